/**
 * Whether this broker may be promoted or demoted now; pure. DESIGN "Promotion and fencing".
 *
 * Every refusal is a sentence that says what is wrong and what to do. Most give way to `force`,
 * which is for an operator who knows more than this broker can.
 */
import { withArticle } from "../base/article.ts";
import type { HARole } from "../ha/ha_coordinator.ts";
import type { MasterStandingView } from "../ha/master_standing.ts";
import { refusingReason } from "./ha_fence_verdict.ts";
import type { HAPeerAnswer } from "./ha_peer_inquiry.ts";

/** Why not. */
export interface RoleRefusal {
  readonly reason: string;
  /** `force` overrides it. */
  readonly isForcible: boolean;
  /** It may be over in a moment. */
  readonly isTransient: boolean;
}

/** What a promotion depends on. */
export interface PromotionSituation {
  readonly role: HARole;
  /** Why this master accepts nothing: another broker was promoted; null: it does not know of any. */
  readonly fencedReason: string | null;
  /** End of the own log. */
  readonly maxOffset: number;
  readonly standing: MasterStandingView;
  /** The other brokers of this pair that answer. */
  readonly peers: readonly HAPeerAnswer[];
  /** Brokers that live, and do not answer this one (code 16). */
  readonly refusing: readonly string[];
  /** Where tables or positions differ from those here; null: nowhere. */
  readonly differingTables: string | null;
  /** This process stood still, and has not caught up with its master since. */
  readonly hasStoodStill: boolean;
  /** Other slaves of the same master that do not answer. */
  readonly silentSlaves: readonly string[];
}

/** What a demotion depends on. */
export interface DemotionSituation {
  readonly role: HARole;
  readonly epoch: number;
  /** Another master was promoted meanwhile, and this one knows it. */
  readonly isSuperseded: boolean;
  readonly peers: readonly HAPeerAnswer[];
  readonly inSyncSlaveNums: number;
  /** A slave has exactly these tables and positions. */
  readonly areTablesInSync: boolean;
  /** Somebody says where the new master is: a name server, or the request. */
  readonly canFindMaster: boolean;
}

/** A lag below both is what is under way between any pair. */
const BEHIND_BYTES = 65_536;
const BEHIND_MS = 1_000;

/** Null when the slave may become the master. */
export function refusalOfPromotion(it: PromotionSituation): RoleRefusal | null {
  const isMaster = it.role !== "SLAVE";
  if (isMaster && it.fencedReason === null) {
    return never(
      `This broker is ${withArticle(it.role)}: only a SLAVE can be promoted`,
    );
  }
  const master = it.peers.find(({ role }) => role !== "SLAVE");
  if (master !== undefined) {
    return forcible(
      `The master at ${master.address} answers (${master.role}, epoch ${master.epoch}): demote it there with ` +
        "`pocketmq ha demote`, or stop it; force promotes this broker beside it",
    );
  }
  if (it.refusing.length > 0) return forcible(refusingReason(it.refusing));
  // It may lack what the other one accepted: only an operator knows that that is gone for good.
  if (isMaster) return forcible(it.fencedReason!);
  if (it.maxOffset === 0) {
    return forcible(
      "This slave has never had any data of a master: wait until `pocketmq ha status` says that it " +
        "follows one; --force makes it a master with an empty log",
    );
  }
  if (it.standing.kind === "stopped") {
    const { problem, reason } = it.standing;
    return forcible(`This slave is ${problem}: ${reason}`);
  }
  return refusalOfPeers(it) ?? refusalOfLag(it);
}

/** Whoever lives and holds more must not be left behind: the former master, or another slave. */
function refusalOfPeers(it: PromotionSituation): RoleRefusal | null {
  const longer = it.peers.find(({ maxOffset }) =>
    (maxOffset ?? 0) > it.maxOffset
  );
  if (longer !== undefined) {
    return transient(
      `The log at ${longer.address} ends at ${longer.maxOffset}, this one at ${it.maxOffset}: ` +
        "wait until this slave has the rest, or promote that one",
    );
  }
  return it.differingTables === null ? null : transient(
    `Topics, groups or positions at ${it.differingTables} are not the same as here: wait a ` +
      "moment, and try again",
  );
}

function refusalOfLag(
  { hasStoodStill, maxOffset, peers, silentSlaves, standing }:
    PromotionSituation,
): RoleRefusal | null {
  if (silentSlaves.length > 0) {
    return forcible(
      `${
        silentSlaves.join(", ")
      } followed the same master and does not answer: it may have more ` +
        "than this slave; start it, and promote the one with the longer log, or force this one, " +
        "which loses what only that one has",
    );
  }
  // A living peer of the same length says more than any memory of a link.
  if (peers.some((it) => it.maxOffset === maxOffset)) return null;
  if (standing.kind === "unknown") {
    return forcible(
      "This slave has not compared its log with a master since it started: how far it is " +
        "behind is not known. Start that master and wait for the comparison; if it is gone for good, " +
        "--force promotes, and what only that master has is lost",
    );
  }
  if (hasStoodStill) {
    return forcible(
      "This slave stood still (a stopped process, a paused machine) and has not caught up with " +
        "its master since: what was confirmed meanwhile may be missing here, and force loses it",
    );
  }
  if (standing.kind !== "follows") return null;
  const { behindBytes, behindMs } = standing;
  if (behindBytes <= BEHIND_BYTES || behindMs <= BEHIND_MS) return null;
  return forcible(
    `This slave was catching up: the master's log was ${behindBytes} bytes longer, and they ` +
      "are lost if it never comes back: wait for that master, or give them up with --force",
  );
}

/** Null when the master may become a slave. */
export function refusalOfDemotion(it: DemotionSituation): RoleRefusal | null {
  if (it.role === "SLAVE") {
    return never("This broker is a SLAVE already");
  }
  if (!it.canFindMaster) {
    return never(
      "Nobody says where the new master is: set namesrvAddr or haMasterAddress, or name its " +
        "replication address (--master HOST:PORT)",
    );
  }
  const isBeaten = it.peers.some(({ epoch, role }) =>
    role !== "SLAVE" && epoch > it.epoch
  );
  if (it.isSuperseded || isBeaten) return null;
  if (it.inSyncSlaveNums === 0) {
    const reason =
      "No slave is in sync with this master: nobody could take its place without loss. " +
      "Start its slave and wait until `pocketmq ha status` says healthy; --force demotes it all the " +
      "same, and what no slave has is then missing at the next master";
    // One that lives may be about to connect.
    const hasSlave = it.peers.some(({ role }) => role === "SLAVE");
    return hasSlave ? transient(reason) : forcible(reason);
  }
  return it.areTablesInSync ? null : transient(
    "No slave has all topics, groups and positions of this master yet: wait a moment, and try again",
  );
}

/** Another change of role in this pair is under way. */
export function meanwhile(reason: string): RoleRefusal {
  return transient(reason);
}

function never(reason: string): RoleRefusal {
  return { reason, isForcible: false, isTransient: false };
}

function forcible(reason: string): RoleRefusal {
  return { reason, isForcible: true, isTransient: false };
}

function transient(reason: string): RoleRefusal {
  return { reason, isForcible: true, isTransient: true };
}
