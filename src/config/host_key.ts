/** Keys that hold the name or the IP address of a host. */
import { parseIpAddress } from "../model/socket_address.ts";
import { type ConfigKey, text } from "./config_key.ts";

/** A label of a host name (RFC 1123). */
const LABEL = /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/i;
const NAME_LENGTH_MAX = 253;

/** True for an IP address, and for a name that can be looked up. */
export function isHost(host: string): boolean {
  if (parseIpAddress(host) !== undefined) return true;
  const labels = host.replace(/\.$/, "").split(".");
  // A name that ends in digits is a mistyped address: 10.0.0.256.
  return host.length <= NAME_LENGTH_MAX && !/^\d+$/.test(labels.at(-1)!) &&
    labels.every((it) => LABEL.test(it));
}

/** An IP address or a host name. */
export function host(
  fallback: string,
  doc: string,
  options: { readonly isEmptyFine?: boolean } = {},
): ConfigKey<string> {
  return text(fallback, doc, {
    errorOf: (value) =>
      isHost(value) || value === "" && options.isEmptyFine === true
        ? undefined
        : "give an IP address, or a host name of letters, digits, - and .",
  });
}
