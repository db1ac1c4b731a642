/** HAState: replication in one word and one sentence; pure. */
import type {
  HAClientRuntimeInfo,
  HAConnectionRuntimeInfo,
} from "./ha_runtime_info.ts";
import type { HAStop } from "./master_probe.ts";

/** The words of `/admin/ha`. */
export type HAStateWord =
  | "healthy"
  | "catching-up"
  | "degraded"
  | "stalled"
  | "needs-reseed"
  | "diverged"
  | "disconnected"
  | "alone";

/** What the name servers show beside this broker. */
export interface NeighbourWarning {
  /**
   * `rival`: another one claims our place. `overtaken`: that one is a master that this broker
   * has overtaken. `no-master`: nobody that this slave could follow.
   */
  readonly kind: "rival" | "overtaken" | "no-master";
  /** One sentence. */
  readonly text: string;
}

/** A word and why; the reason is null only when healthy. */
export interface HAState {
  readonly state: HAStateWord;
  readonly reason: string | null;
}

/** What a master's state follows from. */
export interface MasterSituation {
  readonly haAddress: string;
  readonly isSync: boolean;
  readonly isDegraded: boolean;
  readonly haSyncMode: string;
  readonly connections: readonly HAConnectionRuntimeInfo[];
  /** Links whose slave cannot be served, those that ended a moment ago included. */
  readonly problems: readonly {
    readonly addr: string;
    readonly problem: HAStateWord;
    readonly reason: string;
  }[];
  readonly neighbourWarning: NeighbourWarning | null;
  /** Another broker was promoted; null: none is known. */
  readonly fencedReason: string | null;
}

/** What a slave's state follows from. */
export interface SlaveSituation {
  readonly info: HAClientRuntimeInfo;
  readonly problem: HAStop | null;
  readonly reason: string | null;
  /** brokerRole of whoever is followed, as it told last; null while unknown. */
  readonly masterRole: string | null;
  /** What the operator can do, in one clause. */
  readonly remedy?: string | null;
  readonly neighbourWarning: NeighbourWarning | null;
}

/** A lag that is both this long and this big is one. */
const LAG_MS = 1_000;
const LAG_BYTES = 65_536;
/** A lag of that age in which nothing was acknowledged. */
const STALLED_MS = 10_000;

const HEALTHY: HAState = Object.freeze({ state: "healthy", reason: null });

export function masterState(it: MasterSituation): HAState {
  if (it.fencedReason !== null) {
    return { state: "diverged", reason: it.fencedReason };
  }
  const { neighbourWarning: warning } = it;
  if (warning === null) return ownMasterState(it);
  if (warning.kind !== "overtaken") {
    return { state: "degraded", reason: warning.text };
  }
  const { reason, state } = ownMasterState(it);
  return {
    state,
    reason: reason === null ? warning.text : `${reason}; ${warning.text}`,
  };
}

function ownMasterState(it: MasterSituation): HAState {
  const [problem] = it.problems;
  const serving = it.connections.filter(({ lagMs }) => lagMs !== null);
  if (problem !== undefined) {
    return {
      state: problem.problem,
      reason: `Slave ${problem.addr} is not served: ${problem.reason}`,
    };
  }
  if (it.isSync && it.isDegraded) {
    return {
      state: "degraded",
      reason:
        "No slave has been in sync for haDegradeAfterMs: puts are acknowledged by this broker alone (haSyncMode=degrade)",
    };
  }
  if (serving.length === 0) return alone(it);
  const slowest = serving.reduce((a, b) => (a.lagMs! >= b.lagMs! ? a : b));
  const { addr, diff, lagMs, silentMs } = slowest;
  if (lagMs! >= STALLED_MS && silentMs >= STALLED_MS) {
    return {
      state: "stalled",
      reason:
        `Slave ${addr} is ${diff} bytes behind and has acknowledged nothing for ${
          seconds(silentMs)
        }`,
    };
  }
  return isLagging(diff, lagMs)
    ? {
      state: "catching-up",
      reason: `Slave ${addr} is ${diff} bytes, ${seconds(lagMs!)} behind`,
    }
    : HEALTHY;
}

export function slaveState(it: SlaveSituation): HAState {
  if (it.problem !== null) {
    const isLost = it.problem === "disconnected";
    const reason = isLost ? it.neighbourWarning?.text ?? it.reason : it.reason;
    const isCurable = it.problem === "needs-reseed" ||
      it.problem === "diverged";
    return {
      state: it.problem,
      reason: isCurable && it.remedy ? `${reason}; ${it.remedy}` : reason,
    };
  }
  const { diff, lagMs, masterAddr, state } = it.info;
  const { neighbourWarning: warning } = it;
  // Replication that runs is the truth: name servers are told late.
  const isLate = warning?.kind === "no-master" && state === "TRANSFER";
  if (warning !== null && !isLate) {
    return { state: "degraded", reason: warning.text };
  }
  if (state !== "TRANSFER") {
    return {
      state: "catching-up",
      reason: it.info.reportedOffset === null
        ? `The logs are being compared with the master at ${masterAddr}`
        : `The logs agree; nothing has come from the master at ${masterAddr} yet`,
    };
  }
  if (it.masterRole === "SLAVE") {
    return {
      state: "degraded",
      reason:
        `The broker at ${masterAddr}, which this slave follows, is a SLAVE too: without a ` +
        "master nobody takes messages; make one with `pocketmq ha promote`, or follow the master",
    };
  }
  return isLagging(diff, lagMs)
    ? {
      state: "catching-up",
      reason: `This slave is ${diff} bytes, ${
        seconds(lagMs!)
      } behind ${masterAddr}`,
    }
    : HEALTHY;
}

function alone(
  { connections, haAddress, haSyncMode, isSync }: MasterSituation,
) {
  const consequence = !isSync
    ? ""
    : haSyncMode === "async"
    ? "; puts do not wait for one (haSyncMode=async)"
    : "; puts are stored and answered with SLAVE_NOT_AVAILABLE";
  const who = connections.length === 0
    ? `No slave is connected to ${haAddress}`
    : `Nobody who is connected to ${haAddress} has acknowledged anything yet`;
  return { state: "alone", reason: who + consequence } as const;
}

function isLagging(diff: number | null, lagMs: number | null): boolean {
  return (diff ?? 0) > LAG_BYTES && (lagMs ?? 0) > LAG_MS;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
