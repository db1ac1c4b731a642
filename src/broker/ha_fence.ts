/**
 * HAFence: keeps a master from accepting messages once another broker of its pair was promoted.
 *
 * | state    | sends                  | name servers | left by                                    |
 * | -------- | ---------------------- | ------------ | ------------------------------------------ |
 * | `asking` | refused                | nothing told | answers, or 2 s; then nobody could be asked |
 * | `open`   | taken                  | told         | a higher epoch or a lost tie; a standstill |
 * | `fenced` | refused                | left         | a change of role only: never by itself     |
 *
 * Invariants
 * - What was proved once is kept in haPeers.json: a rival that is away is not a rival less.
 * - After a standstill (a stopped process, a paused machine) answers to questions asked before it
 *   open nothing.
 */
import type { Clock } from "../io/clock.ts";
import type { Logger } from "../io/logger.ts";
import type { BrokerIdentity, OuterClient } from "./broker_outer_api.ts";
import { HAFenceInquiry, membersOf } from "./ha_fence_inquiry.ts";
import { HAFenceSchedule } from "./ha_fence_schedule.ts";
import {
  type FenceAnswers,
  fencedReason,
  type FenceOwner,
  rivalOf,
  unaskedReason,
  unknownReason,
} from "./ha_fence_verdict.ts";
import { HAKnownSlaves } from "./ha_known_slaves.ts";
import type { HAPeersFile, MasterRole } from "./ha_peers_file.ts";

/** What it needs. */
export interface HAFencePorts {
  readonly client: OuterClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly identity: BrokerIdentity;
  readonly epoch: number;
  /** End of the log when this broker was last promoted. */
  readonly promotedAtOffset: number;
  readonly peers: HAPeersFile;
  /** False for a slave, which takes no messages anyway. */
  isMaster(): boolean;
  namesrvAddrs(): readonly string[];
  /** Slaves connected to the HA port. */
  slaveCount(): number;
  /** Remoting address of the PocketMQ master that is followed; null without one. */
  followedMaster(): string | null;
  /**
   * This broker is fenced from now on: name servers must not show it any more. Called again when
   * the reason is another one.
   */
  onFenced(reason: string): void;
}

type FenceState = "asking" | "open" | "fenced";

/** How long answers are waited for before messages are taken without them. */
const ASKING_MS = 2_000;
/** Between two ticks, 100 ms apart: the process stood still. */
const STANDSTILL_MS = 3_000;

const ASKING =
  "this broker asks first whether another one was promoted to master";

/** One look under way. */
interface Look {
  readonly inquiry: HAFenceInquiry;
  readonly startedMs: number;
  readonly isWhole: boolean;
  /** A standstill came after it. */
  isStale: boolean;
}

/** The fence of one broker. */
export class HAFence {
  readonly #ports: HAFencePorts;
  readonly #opened = Promise.withResolvers<void>();
  readonly #looks = new Set<Look>();
  readonly #slaves: HAKnownSlaves;
  readonly #schedule = new HAFenceSchedule();
  #state: FenceState = "asking";
  #refusal: string | null = ASKING;
  #unasked: string | null = null;
  #silent: readonly string[] = [];
  #tickedWallMs = Infinity;
  #isStopped = false;

  constructor(ports: HAFencePorts) {
    this.#ports = ports;
    this.#slaves = new HAKnownSlaves(ports.identity.brokerName);
  }

  get state(): FenceState {
    return this.#state;
  }

  /** True when name servers may be told of this broker. */
  get isOpen(): boolean {
    return this.#state === "open";
  }

  /** Why another broker is the master; null unless fenced. */
  get fencedReason(): string | null {
    return this.#state === "fenced" ? this.#refusal : null;
  }

  /** Why this master serves without having asked anybody; null when somebody answered. */
  get unaskedReason(): string | null {
    return this.#unasked;
  }

  /** Whoever did not answer when all were asked last: name servers and peers. */
  get silent(): readonly string[] {
    return this.#silent;
  }

  /** Remoting addresses of the brokers of this pair that were seen. */
  get peerAddresses(): readonly string[] {
    return this.#ports.peers.peers;
  }

  /** Those of them that followed this broker since it started, and have not moved. */
  get slaveAddresses(): readonly string[] {
    return this.peerAddresses.filter((it) => this.#slaves.has(it));
  }

  /** Role of the last master that was followed, or was this broker; null: nobody was. */
  get followedRole(): MasterRole | null {
    return this.#ports.peers.followedRole;
  }

  /** A master that is followed has said which kind it is, or this one is demoted. */
  onFollowedRole(role: string): void {
    this.#ports.peers.followed(role);
  }

  /** The highest epoch that is known here, the own one included. */
  get highestEpoch(): number {
    const { epoch, peers } = this.#ports;
    return Math.max(epoch, peers.rival?.epoch ?? 0);
  }

  /**
   * Resolves when it is known whether this broker may take messages: at once for a slave, and
   * where nobody is to be asked; after 2 s at most. Ticks must come meanwhile. Whoever was promoted
   * just now has asked already, and has a higher epoch than all that answered.
   */
  start(isJustPromoted = false): Promise<void> {
    this.#tickedWallMs = this.#ports.clock.nowMs();
    const isFree = isJustPromoted || !this.#ports.isMaster() ||
      !this.#hasAnybody();
    if (this.#isBeaten()) this.#fence();
    else if (isFree) this.#open();
    this.tick();
    return this.#opened.promise;
  }

  /** Why a message must not be taken now; null: it may. Called for every one of them. */
  refusal(): string | null {
    if (!this.#ports.isMaster()) return null;
    if (this.#isStandstill()) this.#onStandstill();
    return this.#refusal;
  }

  /** Every 100 ms. */
  tick(): void {
    if (this.#isStopped) return;
    const { clock, isMaster, peers } = this.#ports;
    const nowMs = clock.monotonicMs();
    peers.tick(nowMs);
    if (!isMaster()) return this.#tickAsSlave();
    if (this.#isStandstill()) this.#onStandstill();
    this.#tickedWallMs = clock.nowMs();
    this.#schedule.onSlaves(this.#ports.slaveCount(), nowMs);
    for (const look of [...this.#looks]) {
      if (nowMs - look.startedMs >= ASKING_MS) this.#onEnd(look);
    }
    if (!this.#schedule.isDue(nowMs) || !this.#hasAnybody()) return;
    this.#look(this.#ports.namesrvAddrs(), this.#ports.peers.peers, true);
  }

  /** A broker of this pair lives at `address`. */
  remember(address: string): void {
    if (address !== this.#ports.identity.brokerAddr) {
      this.#ports.peers.remember(address);
    }
  }

  /** A slave that is connected here lives at `address`. */
  rememberSlave(address: string): void {
    this.remember(address);
    if (!this.peerAddresses.includes(address)) return;
    const nowMs = this.#ports.clock.monotonicMs();
    // It may be one that lived elsewhere.
    if (this.#slaves.add(address, nowMs)) this.#schedule.onSlave();
  }

  /**
   * Somebody says that it has a higher epoch, or claims the own one: those that are known are
   * asked, at once.
   */
  onHint(brokerName: string, epoch: number): void {
    const isNews = epoch > 0 && epoch >= this.#ports.epoch;
    if (!isNews || this.#state === "fenced") return;
    if (brokerName !== this.#ports.identity.brokerName) return;
    this.#schedule.onHint(this.#ports.clock.monotonicMs());
  }

  /** Learns nothing more; resolves when what was learned is durable. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#looks.clear();
    this.#opened.resolve();
    await this.#ports.peers.persist();
  }

  /**
   * A name server that does not know us is about to be told: a 4.x one would give us the place of
   * whoever was promoted. True when it may be.
   */
  async confirm(namesrvAddr: string): Promise<boolean> {
    if (!this.#ports.isMaster()) return true;
    if (this.#state === "open") {
      const look = this.#look([namesrvAddr], [], false);
      await look.inquiry.done;
      this.#onEnd(look);
    }
    return this.#state === "open";
  }

  /** True when that name server shows this broker as the master. */
  async isShownAt(namesrvAddr: string): Promise<boolean> {
    const { client, identity } = this.#ports;
    const members = await membersOf(client, identity, namesrvAddr);
    return members?.get(0) === identity.brokerAddr;
  }

  #hasAnybody(): boolean {
    const { namesrvAddrs, peers } = this.#ports;
    return peers.peers.length > 0 || namesrvAddrs().length > 0;
  }

  /** The wall clock runs also while a machine sleeps; set forward, it costs one look. */
  #isStandstill(): boolean {
    return this.#ports.clock.nowMs() - this.#tickedWallMs > STANDSTILL_MS;
  }

  #onStandstill(): void {
    this.#tickedWallMs = this.#ports.clock.nowMs();
    for (const it of this.#looks) it.isStale = true;
    this.#schedule.hurry();
    if (this.#state !== "open" || !this.#hasAnybody()) return;
    this.#ports.logger.warn(
      "This broker stood still: it asks whether another one was promoted meanwhile, and takes no messages until then",
    );
    this.#state = "asking";
    this.#refusal = ASKING;
  }

  #tickAsSlave(): void {
    const master = this.#ports.followedMaster();
    if (master !== null) this.remember(master);
  }

  #look(
    namesrvAddrs: readonly string[],
    peerAddrs: readonly string[],
    isWhole: boolean,
  ): Look {
    const startedMs = this.#ports.clock.monotonicMs();
    const versionOf = (address: string) => this.#versionOf(address);
    const inquiry = new HAFenceInquiry(
      { ...this.#ports, versionOf },
      namesrvAddrs,
      peerAddrs,
    );
    const look: Look = { inquiry, startedMs, isWhole, isStale: false };
    this.#looks.add(look);
    if (isWhole) this.#schedule.onLook(startedMs);
    inquiry.done.then(
      () => {
        // What comes after the end may still prove something.
        if (this.#looks.has(look)) this.#onEnd(look);
        else this.#judge(inquiry);
      },
      (error: unknown) =>
        this.#ports.logger.debug("A look at the pair failed", { error }),
    );
    return look;
  }

  /** Not asked by a fenced broker, whose rival may be dead. */
  #versionOf(address: string): "ask" | "known" | "unknown" {
    if (this.#state === "fenced") return "known";
    const nowMs = this.#ports.clock.monotonicMs();
    const isUrgent = this.#state === "asking";
    return this.#schedule.versionOf(address, nowMs, isUrgent);
  }

  /** Everybody has answered, or had the time to. */
  #onEnd(look: Look): void {
    if (!this.#looks.delete(look)) return;
    const { inquiry } = look;
    if (!this.#judge(inquiry) || look.isStale || !look.isWhole) return;
    this.#silent = inquiry.silent;
    this.#noteMoves(look);
    this.#doubt(inquiry);
    if (this.#state === "asking") this.#open();
  }

  #noteMoves({ inquiry: { peers, silent }, startedMs }: Look): void {
    this.#slaves.retain(this.peerAddresses);
    for (const it of this.#slaves.onLook({ peers, silent, startedMs })) {
      this.#ports.logger.info(
        `The slave of brokerId=${it.brokerId} has moved from ${it.from} to ${it.to}`,
      );
    }
  }

  #open(): void {
    this.#state = "open";
    this.#refusal = null;
    this.#opened.resolve();
  }

  /** Neighbours that are away while this master runs are no news; at a start they are. */
  #doubt(answers: FenceAnswers): void {
    const isNews = this.#state === "asking" || answers.answeredCount > 0 ||
      answers.refusing.length > 0;
    const doubt = unknownReason(answers) ??
      (isNews ? unaskedReason(answers) : this.#unasked);
    if (doubt !== null && doubt !== this.#unasked) {
      this.#ports.logger.warn(`${doubt}; messages are taken`);
    }
    this.#unasked = doubt;
  }

  /** True when nothing that was heard speaks against this master. */
  #judge(answers: FenceAnswers): boolean {
    if (this.#isStopped) return false;
    this.#learn(answers);
    const isBeaten = this.#isBeaten();
    if (isBeaten) this.#fence();
    return !isBeaten;
  }

  #isBeaten(): boolean {
    const { epoch, isMaster, peers: { rival } } = this.#ports;
    if (!isMaster() || rival === null) return false;
    return rival.epoch > epoch || (rival.isTied && rival.epoch === epoch);
  }

  #learn({ peers: answers, registered, unknown }: FenceAnswers): void {
    for (const { address } of unknown) this.#schedule.onUnknown(address);
    const { identity, peers } = this.#ports;
    for (const it of answers) {
      if (it.brokerName === identity.brokerName) this.remember(it.address);
      else peers.forget(it.address);
    }
    const rival = rivalOf(this.#owner, { peers: answers, registered });
    if (rival !== null) peers.prove(rival);
  }

  get #owner(): FenceOwner {
    const { epoch, identity, promotedAtOffset } = this.#ports;
    const { brokerAddr, brokerName, haServerAddr: haAddress } = identity;
    return { brokerAddr, brokerName, epoch, promotedAtOffset, haAddress };
  }

  #fence(): void {
    const { logger, peers } = this.#ports;
    const reason = fencedReason(this.#owner, peers.rival!);
    if (this.#refusal === reason) return;
    this.#refusal = reason;
    this.#state = "fenced";
    logger.error(reason);
    this.#opened.resolve();
    this.#ports.onFenced(reason);
  }
}
