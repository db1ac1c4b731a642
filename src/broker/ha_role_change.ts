/**
 * HARoleChange: promotes and demotes the broker of this process. It gathers what the decision
 * depends on, decides (`ha_role_decision.ts`) and has the broker part started again.
 */
import type { HARole } from "../ha/ha_coordinator.ts";
import type { Clock } from "../io/clock.ts";
import type { BrokerRun, RestartChanges } from "./broker_run.ts";
import type { HARoleRecord } from "./ha_role_file.ts";
import { type HAPeerAnswer, HAPeerInquiry } from "./ha_peer_inquiry.ts";
import {
  refusalOfDemotion,
  refusalOfPromotion,
  type RoleRefusal,
} from "./ha_role_decision.ts";
import { prepareDemotion } from "./ha_demotion.ts";
import {
  freeBrokerId,
  namesrvsOf,
  type PairSurvey,
  surveyPair,
} from "./ha_pair_survey.ts";

/** The change would lose something, or cannot be: one sentence. */
export class RoleChangeRefused extends Error {
  override readonly name = "RoleChangeRefused";
  constructor(reason: string, readonly isForcible: boolean) {
    super(reason);
  }
}

/** What an operator asks for. */
export interface RoleChangeRequest {
  /** Overrides refusals that can be overridden. */
  readonly force: boolean;
}

/** A promotion. */
export interface PromotionRequest extends RoleChangeRequest {
  /** Absent: the role that the master had, ASYNC_MASTER if nobody knows it. */
  readonly role?: Exclude<HARole, "SLAVE">;
}

/** A demotion. */
export interface DemotionRequest extends RoleChangeRequest {
  /** `host:port` of the new master's HA port; absent: as configured, or as name servers say. */
  readonly haMasterAddress?: string;
}

/** What was done. */
export interface RoleChanged extends HARoleRecord {
  /** One sentence for the operator. */
  readonly detail: string;
}

/** What it needs of the controller. */
export interface HARoleChangePorts {
  readonly clock: Clock;
  run(): BrokerRun;
  /** brokerId of the configuration, whatever haRole.json says. */
  readonly configuredBrokerId: number;
  restart(
    changes: RestartChanges,
    between?: () => Promise<void>,
  ): Promise<void>;
}

const ROLE_CHANGE_RUNS =
  "A change of the role of this broker is on its way: try again once it has ended";
/** How long a master that is to be a slave waits for its slave: it takes no changes meanwhile. */
const DEMOTION_WAIT_MS = 5_000;
/** How long a slave waits for what the former master has: that starts again just now. */
const PROMOTION_WAIT_MS = 10_000;
const SYNC_LOOK_MS = 200;

/** Changes of role, one at a time. */
export class HARoleChange {
  readonly #ports: HARoleChangePorts;
  #isRunning = false;

  constructor(ports: HARoleChangePorts) {
    this.#ports = ports;
  }

  /**
   * Makes this slave the master of its pair. Rejects with `RoleChangeRefused`, and then nothing
   * has changed; else as `BrokerController.restart`.
   */
  promote(request: PromotionRequest): Promise<RoleChanged> {
    return this.#alone(() => this.#promote(request));
  }

  /**
   * Makes this master a slave. A slave that has no master takes the one that is named, and one
   * whose brokerId another broker has takes a free one. Rejects as `promote`.
   */
  demote(request: DemotionRequest): Promise<RoleChanged> {
    return this.#alone(() => this.#demote(request));
  }

  async #alone<T>(change: () => Promise<T>): Promise<T> {
    if (this.#isRunning) {
      throw new RoleChangeRefused(ROLE_CHANGE_RUNS, false);
    }
    this.#isRunning = true;
    try {
      return await change();
    } finally {
      this.#isRunning = false;
    }
  }

  async #promote(request: PromotionRequest): Promise<RoleChanged> {
    let peers: readonly HAPeerAnswer[] = [];
    const overridden = await this.#decide(request.force, async () => {
      ({ peers } = await surveyPair(this.#ports.run()));
      return await this.#refusalOfPromotion(peers);
    });
    const run = this.#ports.run();
    const { haRole, masterWatch, running: { fence, ha, parts } } = run;
    const masterRole = ha.role === "SLAVE" ? fence.followedRole : ha.role;
    const epochs = [
      haRole?.epoch ?? 0,
      masterWatch.last?.epoch ?? 0,
      fence.highestEpoch,
      parts.topicConfigManager.dataVersion.stateVersion,
      ...peers.map((it) => it.epoch),
    ];
    const record = (promotedAtOffset: number): HARoleRecord => ({
      role: request.role ?? masterRole ?? "ASYNC_MASTER",
      brokerId: 0,
      epoch: Math.max(...epochs) + 1,
      promotedAtOffset,
    });
    await this.#ports.restart({ promotion: record });
    const changed = this.#ports.run().haRole!;
    return {
      ...changed,
      detail:
        `This broker is the ${changed.role} of epoch ${changed.epoch}, promoted at offset ` +
        `${changed.promotedAtOffset}` + despite(overridden),
    };
  }

  async #refusalOfPromotion(
    peers: readonly HAPeerAnswer[],
  ): Promise<RoleRefusal | null> {
    const { masterWatch, running } = this.#ports.run();
    const { fence, ha, identity, parts } = running;
    const { maxPhyOffset } = parts.messageStore;
    return refusalOfPromotion({
      role: ha.role,
      fencedReason: fence.fencedReason,
      maxOffset: maxPhyOffset,
      standing: ha.client.standing,
      peers,
      differingTables: await this.#differingTables(peers, ha.masterAddress),
      hasStoodStill: masterWatch.hasStoodStill,
      silentSlaves: (masterWatch.last?.slaves ?? []).filter((address) =>
        address !== identity.brokerAddr &&
        !peers.some((it) => it.address === address)
      ),
    });
  }

  /** The former master, if it lives as a slave and its tables are other ones than here. */
  async #differingTables(
    peers: readonly HAPeerAnswer[],
    formerMaster: string | null,
  ): Promise<string | null> {
    const { client, running: { metadata } } = this.#ports.run();
    const isAlive = peers.some((it) =>
      it.address === formerMaster && it.maxOffset !== null
    );
    if (!isAlive || formerMaster === null) return null;
    try {
      const inquiry = new HAPeerInquiry(client);
      const isSame = await inquiry.hasTables(formerMaster, metadata.versions);
      return isSame ? null : formerMaster;
    } catch {
      return null; // It has gone since it answered.
    }
  }

  async #demote(request: DemotionRequest): Promise<RoleChanged> {
    const run = this.#ports.run();
    if (run.running.ha.role === "SLAVE") {
      const amended = await this.#amendSlave(request, run);
      if (amended !== null) return amended;
    }
    try {
      return await this.#demoteHeld(request, run);
    } finally {
      run.releaseChanges();
    }
  }

  /** While tables change all the time no slave ever has them: they stop for the last look. */
  async #demoteHeld(
    request: DemotionRequest,
    run: BrokerRun,
  ): Promise<RoleChanged> {
    let survey: PairSurvey = { peers: [], members: [] };
    const overridden = await this.#decide(request.force, async () => {
      survey = await surveyPair(this.#ports.run(), request.haMasterAddress);
      return this.#refusalOfDemotion(request, survey.peers);
    }, () => run.holdChanges());
    const master = survey.peers.find((it) => it.role !== "SLAVE") ?? null;
    const haMasterAddress = request.haMasterAddress ??
      (this.#isMasterNamed() ? undefined : master?.haAddress);
    const record: HARoleRecord = {
      role: "SLAVE",
      brokerId: freeBrokerId(survey, this.#ports.configuredBrokerId),
      epoch: run.haRole?.epoch ?? 0,
      promotedAtOffset: run.haRole?.promotedAtOffset ?? 0,
      ...(haMasterAddress === undefined
        ? lastMasterOf(survey, master)
        : { haMasterAddress }),
    };
    const isFenced = run.running.fence.fencedReason !== null;
    const prepared = await prepareDemotion(run, master?.address ?? null);
    await this.#ports.restart({ haRole: record }, prepared.between);
    return {
      ...record,
      detail: `This broker is a SLAVE with brokerId=${record.brokerId}` +
        (master !== null
          ? ` of the master at ${master.address}`
          : isFenced
          ? ", and looks for the master that was promoted"
          : "; promote the slave that takes its place with `pocketmq ha promote` there") +
        prepared.detail() + despite(overridden),
    };
  }

  /** Null when nothing is wrong with this slave that a demotion would put right. */
  async #amendSlave(
    { haMasterAddress: named }: DemotionRequest,
    run: BrokerRun,
  ): Promise<RoleChanged | null> {
    const { client, haMasterAddress: followed } = run.running.ha;
    const { identity } = run.running;
    const survey = await surveyPair(run, named);
    const isTaken = survey.peers.some((it) =>
      it.brokerId === identity.brokerId
    );
    const isNew = named !== undefined && named !== followed &&
      !client.isTransferring;
    if (!isTaken && !isNew) return null;
    const { haMasterAddress, ...kept } = run.haRole ??
      { epoch: 0, promotedAtOffset: 0 };
    const address = isNew ? named : haMasterAddress;
    const record: HARoleRecord = {
      ...kept,
      role: "SLAVE",
      brokerId: isTaken
        ? freeBrokerId(survey, this.#ports.configuredBrokerId)
        : identity.brokerId,
      ...(address === undefined ? {} : { haMasterAddress: address }),
    };
    await this.#ports.restart({ haRole: record });
    return {
      ...record,
      detail:
        `This broker was a SLAVE already; it has brokerId=${record.brokerId}` +
        (isTaken ? `, as ${identity.brokerId} was taken` : "") +
        (isNew ? `, and follows the master at ${named}` : ""),
    };
  }

  #refusalOfDemotion(
    { haMasterAddress }: DemotionRequest,
    peers: readonly HAPeerAnswer[],
  ): RoleRefusal | null {
    const { haRole, running } = this.#ports.run();
    const { fence, ha, metadata, schedule } = running;
    const isTold = peers.some((it) =>
      it.role !== "SLAVE" && it.haAddress !== ""
    );
    return refusalOfDemotion({
      role: ha.role,
      epoch: haRole?.epoch ?? 0,
      isSuperseded: fence.fencedReason !== null,
      peers,
      inSyncSlaveNums: ha.service.inSyncSlaveNums,
      areTablesInSync: metadata.hasSlaveInSync && !schedule.isChanged,
      canFindMaster: haMasterAddress !== undefined || this.#isMasterNamed() ||
        isTold,
    });
  }

  /** True when the configuration, or a name server, says whom a slave follows. */
  #isMasterNamed(): boolean {
    const { ha, options } = this.#ports.run().running;
    return ha.options.haMasterAddress !== "" ||
      namesrvsOf(options.broker.namesrvAddr).length > 0;
  }

  /**
   * The refusal that `force` overrides, null without one; waits a little for one that may be
   * over in a moment. Unless the first look says no for good, `hold` is called before the others.
   * Throws `RoleChangeRefused`.
   */
  async #decide(
    isForced: boolean,
    refusalNow: () => Promise<RoleRefusal | null>,
    hold?: () => void,
  ): Promise<RoleRefusal | null> {
    const { clock } = this.#ports;
    const waitMs = hold === undefined ? PROMOTION_WAIT_MS : DEMOTION_WAIT_MS;
    const deadlineMs = clock.monotonicMs() + waitMs;
    let isHeld = hold === undefined;
    for (;;) {
      const refusal = await refusalNow();
      if (!isHeld && (refusal === null || refusal.isTransient)) {
        hold!();
        isHeld = true;
        continue;
      }
      if (refusal === null) return null;
      const waits = refusal.isTransient && clock.monotonicMs() < deadlineMs;
      if (!waits) {
        if (isForced && refusal.isForcible) return refusal;
        throw new RoleChangeRefused(refusal.reason, refusal.isForcible);
      }
      await new Promise<void>((resolve) => clock.after(SYNC_LOOK_MS, resolve));
    }
  }
}

/** Name servers that are away, or do not know of the new master yet, name nobody to follow. */
function lastMasterOf(
  { members }: PairSurvey,
  master: HAPeerAnswer | null,
): { lastMasterAddress?: string } {
  if (master === null || master.haAddress === "") return {};
  const isShown = members.some((it) => it.get(0) === master.address);
  return isShown ? {} : { lastMasterAddress: master.haAddress };
}

function despite(overridden: RoleRefusal | null): string {
  return overridden === null ? "" : `; forced, although: ${overridden.reason}`;
}
