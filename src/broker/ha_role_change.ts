/**
 * HARoleChange: promotes and demotes the broker of this process. It gathers what the decision
 * depends on, decides (`ha_role_decision.ts`) and has the broker part started again.
 */
import type { HARole } from "../ha/ha_coordinator.ts";
import type { Clock } from "../io/clock.ts";
import type { RoleChangeKind } from "../protocol/header/role_change_header.ts";
import type { OuterClient } from "./broker_outer_api.ts";
import type { BrokerRun, RestartChanges } from "./broker_run.ts";
import type { HARoleRecord } from "./ha_role_file.ts";
import { type HAPeerAnswer, HAPeerInquiry } from "./ha_peer_inquiry.ts";
import {
  meanwhile,
  refusalOfDemotion,
  refusalOfPromotion,
  type RoleRefusal,
} from "./ha_role_decision.ts";
import { RoleChangeAnnouncer } from "./role_change/role_change_announcer.ts";
import type { RoleChangeBoard } from "./role_change/role_change_board.ts";
import {
  despite,
  overriddenRefusal,
  RoleChangeRefused,
} from "./role_change/role_refusal.ts";
import { prepareDemotion } from "./ha_demotion.ts";
import {
  freeBrokerId,
  namesrvsOf,
  type PairSurvey,
  surveyPair,
} from "./ha_pair_survey.ts";

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
  /** Changes under way in this pair, this one included. */
  readonly board: RoleChangeBoard;
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
const NOBODY: PairSurvey = Object.freeze({
  peers: [],
  refusing: [],
  named: null,
  members: [],
});

/** Changes of role, one at a time. */
export class HARoleChange {
  readonly #ports: HARoleChangePorts;
  readonly #announcer: RoleChangeAnnouncer;
  #isRunning = false;

  constructor(ports: HARoleChangePorts) {
    this.#ports = ports;
    this.#announcer = new RoleChangeAnnouncer(ports.board, ports.clock);
  }

  /**
   * Makes this slave the master of its pair. Rejects with `RoleChangeRefused`, and then nothing
   * has changed; else as `BrokerController.restart`.
   */
  promote(request: PromotionRequest): Promise<RoleChanged> {
    return this.#alone("promotion", () => this.#promote(request));
  }

  /**
   * Makes this master a slave. A slave that has no master takes the one that is named, and one
   * whose brokerId another broker has takes a free one. Rejects as `promote`.
   */
  demote(request: DemotionRequest): Promise<RoleChanged> {
    return this.#alone("demotion", () => this.#demote(request));
  }

  async #alone<T>(
    kind: RoleChangeKind,
    change: () => Promise<T>,
  ): Promise<T> {
    if (this.#isRunning) {
      throw new RoleChangeRefused(ROLE_CHANGE_RUNS, false);
    }
    this.#isRunning = true;
    try {
      const { identity, parts } = this.#ports.run().running;
      const { brokerAddr, brokerName, haServerAddr } = identity;
      const maxOffset = parts.messageStore.maxPhyOffset;
      this.#ports.board.begin({
        brokerName,
        brokerAddr,
        haServerAddr,
        kind,
        maxOffset,
        isOver: false,
      });
      return await change();
    } finally {
      await this.#announcer.end(this.#clientLeft());
      this.#isRunning = false;
    }
  }

  /** Null once a restart has failed: nothing is left of the broker. */
  #clientLeft(): OuterClient | null {
    try {
      return this.#ports.run().client;
    } catch {
      return null;
    }
  }

  /** Tells the others what is under way here; why it has to wait for what is under way there. */
  async #announce(
    peers: readonly HAPeerAnswer[],
  ): Promise<RoleRefusal | null> {
    const { client } = this.#ports.run();
    const reason = await this.#announcer.announce(client, peers);
    return reason === null ? null : meanwhile(reason);
  }

  async #promote(request: PromotionRequest): Promise<RoleChanged> {
    const { board, clock } = this.#ports;
    let survey = NOBODY;
    const overridden = await overriddenRefusal(
      clock,
      request.force,
      async () => {
        survey = await surveyPair(this.#ports.run());
        return await this.#announce(survey.peers) ??
          await this.#refusalOfPromotion(survey);
      },
    );
    // Nothing may be heard between this and the end of the own change.
    const other = board.decide(clock.monotonicMs());
    if (other !== null && !request.force) {
      throw new RoleChangeRefused(other, true);
    }
    const run = this.#ports.run();
    const { haRole, masterWatch, running: { fence, ha, parts } } = run;
    const masterRole = ha.role === "SLAVE" ? fence.followedRole : ha.role;
    const epochs = [
      haRole?.epoch ?? 0,
      masterWatch.last?.epoch ?? 0,
      fence.highestEpoch,
      parts.topicConfigManager.dataVersion.stateVersion,
      ...survey.peers.map((it) => it.epoch),
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
    { peers, refusing }: PairSurvey,
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
      refusing,
      differingTables: await this.#differingTables(peers, ha.masterAddress),
      hasStoodStill: masterWatch.hasStoodStill,
      silentSlaves: (masterWatch.last?.slaves ?? []).filter((address) =>
        address !== identity.brokerAddr && !refusing.includes(address) &&
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
    const { clock } = this.#ports;
    let survey = NOBODY;
    const overridden = await overriddenRefusal(
      clock,
      request.force,
      async () => {
        survey = await surveyPair(this.#ports.run(), request.haMasterAddress);
        await this.#announce(survey.peers);
        return this.#refusalOfDemotion(request, survey.peers);
      },
      () => run.holdChanges(),
    );
    const master = survey.peers.find((it) => it.role !== "SLAVE") ?? null;
    const haMasterAddress = request.haMasterAddress ??
      (this.#isMasterFound(survey, master) ? undefined : master?.haAddress);
    const record: HARoleRecord = {
      role: "SLAVE",
      brokerId: freeBrokerId(survey, this.#ports.configuredBrokerId),
      epoch: run.haRole?.epoch ?? 0,
      promotedAtOffset: run.haRole?.promotedAtOffset ?? 0,
      ...(haMasterAddress === undefined
        ? lastMasterOf(survey, master)
        : { haMasterAddress }),
    };
    const { fence, ha } = run.running;
    const isFenced = fence.fencedReason !== null;
    // Promoted again, it is what it was.
    fence.onFollowedRole(ha.role);
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

  /** True when configuration or name servers lead to `master`, as far as they can. */
  #isMasterFound(
    { named, peers }: PairSurvey,
    master: HAPeerAnswer | null,
  ): boolean {
    const { haMasterAddress } = this.#ports.run().running.ha.options;
    if (haMasterAddress === "" || !master?.haAddress) {
      return this.#isMasterNamed();
    }
    return peers.some((it) => it.address === named && it.role !== "SLAVE");
  }

  /** True when the configuration, or a name server, says whom a slave follows. */
  #isMasterNamed(): boolean {
    const { ha, options } = this.#ports.run().running;
    return ha.options.haMasterAddress !== "" ||
      namesrvsOf(options.broker.namesrvAddr).length > 0;
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
