/** BrokerStartError: the broker cannot start; names the key, its value and the cure. */
export class BrokerStartError extends Error {
  override readonly name = "BrokerStartError";
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
