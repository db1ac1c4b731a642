/** SourceIp: from where a policy holds: an address, or a block of them as `10.0.0.0/8`. */
import { parseIpAddress } from "../../model/socket_address.ts";

/** Addresses that begin with the first bits of `address`. */
export interface SourceIp {
  readonly address: Uint8Array;
  readonly bits: number;
}

/** Reads IPv4, IPv6 or a block of either; undefined when it is none. */
export function parseSourceIp(text: string): SourceIp | undefined {
  const [host = "", bitsText, ...rest] = text.split("/");
  const address = parseIpAddress(host);
  if (address === undefined || rest.length > 0) return undefined;
  const max = address.length * 8;
  if (bitsText === undefined) return { address, bits: max };
  if (!/^\d{1,3}$/.test(bitsText) || Number(bitsText) > max) return undefined;
  return { address, bits: Number(bitsText) };
}

/** True when `remote`, 4 or 16 bytes, lies in it. */
export function isFrom(
  { address, bits }: SourceIp,
  remote: Uint8Array,
): boolean {
  if (address.length !== remote.length) return false;
  const whole = bits >>> 3;
  for (let index = 0; index < whole; index++) {
    if (address[index] !== remote[index]) return false;
  }
  const rest = bits & 7;
  return rest === 0 ||
    ((address[whole]! ^ remote[whole]!) >>> (8 - rest)) === 0;
}
