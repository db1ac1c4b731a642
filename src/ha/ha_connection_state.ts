/** HAConnectionState: where one replication link stands, on either side. */

/**
 * `READY`: open, nothing reported yet (master); not connected (slave).
 * `HANDSHAKE`: connected, the logs are being compared; nothing is reported yet (slave).
 * `TRANSFER`: bytes may flow.
 * `SUSPEND`: open, but nothing can be transferred; the reason says why.
 * `SHUTDOWN`: closed for good; the next link is another object.
 */
export type HAConnectionState =
  | "READY"
  | "HANDSHAKE"
  | "TRANSFER"
  | "SUSPEND"
  | "SHUTDOWN";

/**
 * Why nothing can be transferred, in the words of `/admin/ha`.
 * `needs-reseed`: the slave ends below the master's first byte.
 * `diverged`: the slave ends beyond the master, or holds other bytes.
 */
export type HAProblem = "needs-reseed" | "diverged";
