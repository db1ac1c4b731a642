/** MasterProbe: what a slave asks its master over remoting; given to the HA room from above. */
import type { MasterPorts } from "./foreign_master.ts";
import type { HAProblem } from "./ha_connection_state.ts";

/** What stops a link before its first report. */
export type HAStop = HAProblem | "stalled" | "disconnected";

/** What makes a slave's log a prefix of its master's again; the old bytes are kept aside. */
export type LogCure =
  /** Begin anew from the master's oldest byte; `bytes` is what the master holds. */
  | { readonly kind: "reseed"; readonly bytes: number }
  /** Cut the own log at `offset`, up to which both agree. */
  | { readonly kind: "cut"; readonly offset: number };

/** How the comparison of both logs ended. */
export type LogComparison =
  /** The own log is a prefix of the master's. `requestOffset`: what an empty log asks for. */
  | {
    readonly kind: "prefix";
    readonly requestOffset: number;
    readonly masterMaxOffset: number;
    /** Of the master's configuration; absent when it does not tell. */
    readonly ports?: MasterPorts | undefined;
  }
  | {
    readonly kind: "stop";
    readonly problem: HAStop;
    readonly reason: string;
    /** Absent when neither cures anything. */
    readonly cure?: LogCure;
  };

/** Asks a master. */
export interface MasterProbe {
  /** Compares identities, file sizes and logs with the master whose HA port is connected. */
  compare(haAddress: string): Promise<LogComparison>;
  /** End of the master's log; null when it cannot be asked. */
  masterMaxOffset(haAddress: string): Promise<number | null>;
}
