/** AuthError: a request about users or policies that cannot be done. */

/** The message goes to the client, `code` is RocketMQ's response code. */
export class AuthError extends Error {
  override readonly name = "AuthError";
  constructor(readonly code: number, message: string) {
    super(message);
  }
}
