/**
 * The signature of a request, as Apache's AclClientRPCHook makes it (reference 14.1): ext fields
 * `AccessKey` and `Signature`, which is the HMAC-SHA1 of the values of all other ext fields, in
 * the order of their names, with the body behind them.
 */
import { hmacSha1 } from "../base/hmac.ts";
import { isSameText } from "../base/same_text.ts";
import type { ExtFields, RemotingCommand } from "./remoting_command.ts";

const ACCESS_KEY = "AccessKey";
const SIGNATURE = "Signature";
/** Clients up to 4.9.3 put this one in after signing. */
const UNIQUE_MSG_QUERY_FLAG = "_UNIQUE_KEY_QUERY";
const V4_9_3 = 399;

/** Who signs. */
export interface SessionCredentials {
  readonly accessKey: string;
  readonly secretKey: string;
}

/**
 * Signs `request`; what its header fields or body are then must not change any more. A request
 * that a client has signed and that is handed on keeps the name and signature of that client.
 */
export function signRequest(
  request: RemotingCommand,
  { accessKey, secretKey }: SessionCredentials,
): void {
  const { extFields } = request;
  const signer = extFields[ACCESS_KEY];
  const isForeign = signer !== undefined && signer !== accessKey;
  if (isForeign && extFields[SIGNATURE] !== undefined) return;
  extFields[ACCESS_KEY] = accessKey;
  extFields[SIGNATURE] = signatureOf(request, secretKey);
}

/** Fields to hand on to somebody who has no business with who signed them. */
export function withoutSignature(fields: ExtFields): ExtFields {
  const { [ACCESS_KEY]: _, [SIGNATURE]: __, ...rest } = fields;
  return rest;
}

/** Who says to have signed; undefined: nobody. */
export function accessKeyOf(request: RemotingCommand): string | undefined {
  return request.extFields[ACCESS_KEY];
}

/** True when `secretKey` made the signature. */
export function isSignedWith(
  request: RemotingCommand,
  secretKey: string,
): boolean {
  const given = request.extFields[SIGNATURE];
  return given !== undefined &&
    isSameText(given, signatureOf(request, secretKey));
}

function signatureOf(request: RemotingCommand, secretKey: string): string {
  const { body, extFields, version } = request;
  let content = "";
  // Java orders strings by UTF-16 units, as sort() does.
  for (const name of Object.keys(extFields).sort()) {
    if (name === SIGNATURE) continue;
    if (name === UNIQUE_MSG_QUERY_FLAG && version <= V4_9_3) continue;
    content += extFields[name];
  }
  return hmacSha1(secretKey, content, body);
}
