/** What tests of the halves of a link share. */
import { DEFAULT_HA_OPTIONS } from "../../src/ha/ha_options.ts";
import type { HAConnection } from "../../src/ha/ha_connection.ts";
import type {
  HAConnectionEffect,
  LogBounds,
} from "../../src/ha/ha_connection_effect.ts";
import type { HAClientEffect, HAClientStart } from "../../src/ha/ha_client.ts";
import { encodeReportHeader } from "../../src/ha/report_header.ts";

export const OPTIONS = DEFAULT_HA_OPTIONS;

export function bytesOfHex(hex: string): Uint8Array {
  return Uint8Array.from(
    hex.match(/../g) ?? [],
    (it) => Number.parseInt(it, 16),
  );
}

/** A log of files of 1 MiB, unless said otherwise. */
export function boundsOf(
  maxOffset: number,
  minOffset = 0,
  mappedFileSize = 1_048_576,
): LogBounds {
  return { minOffset, maxOffset, mappedFileSize };
}

/** A slave's log of files of 1 MiB. */
export function startOf(
  maxPhyOffset: number,
  changes: Partial<HAClientStart> = {},
): HAClientStart {
  return {
    maxPhyOffset,
    flushedOffset: maxPhyOffset,
    mappedFileSize: 1_048_576,
    requestOffset: 0,
    ...changes,
  };
}

/** What the master does about one report. */
export function report(
  connection: HAConnection,
  slaveMaxOffset: number,
  log: LogBounds,
  nowMs: number,
): HAConnectionEffect[] {
  return connection.onBytes(
    encodeReportHeader({ slaveMaxOffset }),
    log,
    nowMs,
  );
}

/** Effects as short lines. */
export function linesOf(effects: readonly Effect[]): string[] {
  return effects.map((it) => {
    switch (it.kind) {
      case "transfer":
        return `transfer ${it.phyOffset}+${it.size}`;
      case "heartbeat":
        return `heartbeat ${it.phyOffset}`;
      case "acked":
        return `acked ${it.slaveAckOffset}`;
      case "append":
        return `append ${it.phyOffset}+${it.body.length}`;
      case "report":
        return `report ${it.slaveMaxOffset}`;
      case "state":
        return "problem" in it && it.problem !== null
          ? `${it.state} ${it.problem}`
          : it.state;
      case "close":
        return "cause" in it ? `close ${it.cause}` : "close";
    }
  });
}

type Effect = HAConnectionEffect | HAClientEffect;
