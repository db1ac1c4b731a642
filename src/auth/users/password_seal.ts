/**
 * PasswordSeal: how passwords stand in answers.
 *
 * Apache's brokers answer a password as it is, and mqadmin's copyUser hands what it got to another
 * broker. Ours give it sealed with the secret of innerClientAuthenticationCredentials, which the
 * brokers of a cluster share: they can read it, whoever sees the answer cannot. Without such a
 * secret there is no password in an answer.
 */
import { openText, sealText } from "../../base/sealed_text.ts";
import { shown } from "../../base/shown.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import { AuthError } from "./auth_error.ts";

const PREFIX = "sealed:";

/** Seals and opens. */
export class PasswordSeal {
  readonly #secret: string | undefined;

  /** `secret`: the secretKey of innerClientAuthenticationCredentials; undefined: there is none. */
  constructor(secret: string | undefined) {
    this.#secret = secret;
  }

  /** True where passwords go out, sealed. */
  get isUsable(): boolean {
    return this.#secret !== undefined;
  }

  /** What an answer says; undefined: nothing. */
  seal(username: string, password: string): string | undefined {
    return this.#secret === undefined
      ? undefined
      : PREFIX + sealText(this.#secret, username, password);
  }

  /** The password that a request means. Throws AuthError for one that was sealed elsewhere. */
  open(username: string, given: string): string {
    if (!given.startsWith(PREFIX)) return given;
    const password = this.#secret === undefined
      ? undefined
      : openText(this.#secret, username, given.slice(PREFIX.length));
    if (password !== undefined) return password;
    throw new AuthError(
      ResponseCode.INVALID_PARAMETER,
      `The password of ${
        shown(username)
      } was sealed by a broker with other innerClientAuthenticationCredentials, or for another user: give the password itself`,
    );
  }
}
