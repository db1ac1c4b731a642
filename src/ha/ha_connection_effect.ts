/** HAConnectionEffect: what an HAConnection is told, what it wants done, what it shows. */
import type { HAConnectionState, HAProblem } from "./ha_connection_state.ts";

/** The master's log at the moment of an event. */
export interface LogBounds {
  readonly minOffset: number;
  readonly maxOffset: number;
  readonly mappedFileSize: number;
}

/**
 * What ends a link: `protocol`: bytes that no slave sends; `ack-beyond`: an ack of what was
 * never sent or is beyond our end; `silent`: housekeeping.
 */
export type HACloseCause = "protocol" | "ack-beyond" | "silent";

export type HAConnectionEffect =
  /** Read `size` bytes at `phyOffset`, send header and body. */
  | { kind: "transfer"; phyOffset: number; size: number }
  /** Send a header with size 0. */
  | { kind: "heartbeat"; phyOffset: number }
  /** The link is a slave with this ack; compute the mark, wake waiting puts. */
  | { kind: "acked"; slaveAckOffset: number }
  | {
    kind: "state";
    state: HAConnectionState;
    problem: HAProblem | null;
    reason: string | null;
  }
  | { kind: "close"; cause: HACloseCause; reason: string };

/** What the faces show; offsets are null while unknown, times are monotonic. */
export interface HAConnectionView {
  readonly state: HAConnectionState;
  readonly problem: HAProblem | null;
  readonly reason: string | null;
  readonly isSlave: boolean;
  readonly slaveRequestOffset: number | null;
  readonly transferFromWhere: number | null;
  readonly slaveAckOffset: number | null;
  readonly inFlightBytes: number;
  readonly inFlightBytesMax: number;
  readonly transferredByteInSecond: number;
  readonly connectedMs: number;
  readonly lastReadMs: number;
  readonly lastAckMs: number | null;
}
