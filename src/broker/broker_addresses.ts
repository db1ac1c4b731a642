/** BrokerAddresses: which address clients and slaves are told, and why that one. */
import type { HostAddress } from "../io/host.ts";
import {
  formatSocketAddress,
  parseIpAddress,
  type SocketAddress,
} from "../model/socket_address.ts";

/** Keys of broker.conf that decide. */
export interface AddressOptions {
  readonly bindAddress: string;
  readonly brokerIP1: string;
  readonly brokerIP2: string;
}

/** What others are told. */
export interface BrokerAddresses {
  readonly brokerIP1: string;
  readonly why: string;
  readonly brokerIP2: string;
  readonly whyIP2: string;
  /** brokerIP1 as records carry it; where that is a host name, the address chosen without it. */
  readonly storeAddress: Uint8Array;
}

/** Bridges and tunnels: reachable from this machine at best. */
const VIRTUAL_INTERFACE =
  /^(docker|br-|veth|virbr|cni|flannel|cali|tun|tap|utun|wg|tailscale|zt|lo)/;

/** Chooses the addresses. */
export function chooseAddresses(
  options: AddressOptions,
  hostAddresses: readonly HostAddress[],
): BrokerAddresses {
  const automatic = automaticAddress(options.bindAddress, hostAddresses);
  const isGiven = options.brokerIP1 !== "";
  const brokerIP1 = isGiven ? options.brokerIP1 : automatic.address;
  const why = isGiven ? "brokerIP1 is set" : automatic.why;
  return {
    brokerIP1,
    why,
    brokerIP2: options.brokerIP2 === "" ? brokerIP1 : options.brokerIP2,
    whyIP2: options.brokerIP2 === "" ? "as brokerIP1" : "brokerIP2 is set",
    storeAddress: parseIpAddress(brokerIP1) ??
      parseIpAddress(automatic.address)!,
  };
}

function automaticAddress(
  bindAddress: string,
  hostAddresses: readonly HostAddress[],
): { address: string; why: string } {
  const bound = parseIpAddress(bindAddress);
  const isAny = bound === undefined || bound.every((it) => it === 0);
  if (!isAny) return { address: bindAddress, why: "it is bindAddress" };
  if (bindAddress === "localhost") {
    return { address: "127.0.0.1", why: "bindAddress is localhost" };
  }
  const candidates = hostAddresses.filter((it) =>
    !it.isLoopback && mayBeTold(it.address)
  ).map((it) => ({ it, rank: rankOf(it) }))
    .sort((a, b) => a.rank - b.rank);
  const best = candidates[0]?.it;
  return best === undefined
    ? { address: "127.0.0.1", why: "this machine has no other address" }
    : {
      address: best.address,
      why: `first address, of ${best.interfaceName}; brokerIP1 overrides`,
    };
}

/**
 * False for what nobody else can connect to: no unicast address (`0.0.1.1`, `240.0.0.1`), and
 * IPv6 link-local ones, which mean nothing without the interface of whoever connects.
 */
function mayBeTold(address: string): boolean {
  const bytes = parseIpAddress(address);
  if (bytes === undefined || bytes.every((it) => it === 0)) return false;
  const [first, second] = [bytes[0]!, bytes[1]!];
  return bytes.length === 4
    ? first !== 0 && first !== 127 && first < 224
    : first !== 0xff && !(first === 0xfe && (second & 0xc0) === 0x80);
}

/** Lower is better; equal ranks keep the host's order. */
function rankOf(it: HostAddress): number {
  let rank = 0;
  if (it.family === 6) rank += 1;
  if (VIRTUAL_INTERFACE.test(it.interfaceName)) rank += 2;
  if (it.address.startsWith("169.254.")) rank += 4;
  return rank;
}

/** `host:port`; IPv6 in brackets. */
export function joinHostPort(host: string, port: number): string {
  const address: Uint8Array | undefined = parseIpAddress(host);
  return address !== undefined && address.length === 16
    ? formatSocketAddress({ address, port } satisfies SocketAddress)
    : `${host}:${port}`;
}
