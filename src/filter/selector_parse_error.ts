/** SelectorParseError: where an expression cannot be read, and what was expected there. */
export class SelectorParseError extends Error {
  override readonly name = "SelectorParseError";
  constructor(
    /** Of the first character that is wrong, counted from 1 in UTF-16 units. */
    readonly position: number,
    /** What is wrong, without the position. */
    readonly problem: string,
  ) {
    super(
      `The SQL92 expression cannot be read at position ${position}: ${problem}`,
    );
  }
}
