/**
 * MetadataAddress: where a slave asks its master for tables and positions.
 *
 * A pair replicates over the address that its HA port has, which may be a
 * private one (brokerIP2); the address of clients may be out of its reach. So
 * the host is that of the HA address, and only the port is the clients'.
 */
import { joinHostPort } from "./broker_addresses.ts";

/** What is known of the master; null where nothing is. */
export interface MasterAddresses {
  /** Key masterAddress. */
  readonly masterAddressKey: string | null;
  /** Key haMasterAddress, or what the name server says of the HA port. */
  readonly haAddress: string | null;
  /** What the name server says of the clients' port. */
  readonly masterAddr: string | null;
}

/** What a broker knows of the master whose HA address is given. */
export function masterAddressesOf(
  ha: {
    readonly options: { readonly masterAddress: string };
    readonly registeredMasterAddr: string | null;
  },
  haAddress: string | null,
): MasterAddresses {
  return {
    masterAddressKey: ha.options.masterAddress || null,
    haAddress,
    masterAddr: ha.registeredMasterAddr,
  };
}

/** `host:port` of the master's remoting port, or null while no master is known. */
export function metadataAddressOf(known: MasterAddresses): string | null {
  if (known.masterAddressKey) return known.masterAddressKey;
  const ha = hostPort(known.haAddress);
  const client = hostPort(known.masterAddr);
  if (ha === null) return client === null ? null : known.masterAddr;
  const port = client === null ? ha.port - 1 : client.port;
  return port > 0 ? joinHostPort(ha.host, port) : null;
}

/** True when `metadataAddressOf` is the HA port minus 1, for want of better knowledge. */
export function isAddressDerived(known: MasterAddresses): boolean {
  return !known.masterAddressKey && hostPort(known.masterAddr) === null;
}

function hostPort(
  address: string | null,
): { host: string; port: number } | null {
  if (!address) return null;
  const colon = address.lastIndexOf(":");
  const host = address.slice(0, Math.max(colon, 0)).replace(
    /^\[(.*)\]$/,
    "$1",
  );
  const port = Number(address.slice(colon + 1));
  return host !== "" && Number.isInteger(port) && port > 0
    ? { host, port }
    : null;
}
