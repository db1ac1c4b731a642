/** ForeignMaster: the sentence for an address that is followed and is no replication port; pure. */
import { likelyProtocol } from "../base/foreign_protocol.ts";

/** Ports of the master's configuration, as it told over remoting. */
export interface MasterPorts {
  readonly listenPort: number;
  readonly haListenPort: number;
}

/** A master that knows us not says nothing. */
export const STRANGER_HINT =
  "; nothing was received: does haAllowedPeers of the master let this broker in";

/** Why nothing of the replication protocol came from `address`, and what to do. */
export function foreignMaster(
  address: string,
  /** The first bytes that came; empty: none. */
  head: Uint8Array,
  /** How the link ended, in one clause. */
  end: string,
  ports: MasterPorts | null,
): string {
  const port = Number(address.slice(address.lastIndexOf(":") + 1));
  const isRight = ports?.haListenPort === port;
  if (head.length === 0 && isRight) {
    return `The link to the master at ${address} ended: ${end}${STRANGER_HINT}`;
  }
  const what = head.length > 0
    ? `${address} is no replication port: it sent ${likelyProtocol(head)}`
    : ports?.listenPort === port
    ? `${address} is the master's remoting port and no replication port`
    : `${address} answers nothing of the replication protocol`;
  const theirs = ports === null || isRight
    ? "usually listenPort+1"
    : `which is ${ports.haListenPort} at this master`;
  return `${what} (${end}): haMasterAddress wants the replication port, ${theirs}`;
}
