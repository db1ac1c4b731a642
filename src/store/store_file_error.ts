/** StoreFileError: a file of the store cannot be used; says which, and the cure. */
export class StoreFileError extends Error {
  override readonly name = "StoreFileError";
  constructor(
    message: string,
    readonly path: string,
    /** One sentence: what the operator can do. */
    readonly hint: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
