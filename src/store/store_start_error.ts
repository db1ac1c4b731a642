/** StoreStartError: the store cannot start; names the key, its value and the cure. */
export class StoreStartError extends Error {
  override readonly name = "StoreStartError";
  constructor(
    message: string,
    readonly key: string,
    readonly value: string,
    readonly cure: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
