/**
 * HAPair: one seeded schedule of a simulated pair: puts, faults and their ends, changes of roles,
 * and what is promised about it.
 *
 * Promises
 * - The slave's log is a prefix of the master's; where it cannot be (a master lost power and
 *   with it bytes that it had sent) the slave takes nothing and says `diverged`.
 * - What was acknowledged as replicated is on both nodes until power or an operator takes it from
 *   one, and on every slave that is promoted, durably from then on.
 * - A master acknowledges nothing as replicated once its slave was promoted, and takes nothing
 *   once it can know of it.
 * - When every fault is over the pair is in sync, or in a named state that is true.
 */
import { assert } from "@std/assert";
import { DEFAULT_HA_OPTIONS } from "../../src/ha/ha_options.ts";
import { brokerInner } from "../model/message_fixture.ts";
import { SMALL } from "../store/message_store_fixture.ts";
import { HA_FAULT_NAMES, HA_FAULTS } from "./ha_faults.ts";
import type { HAHits } from "./ha_hits.ts";
import type { HALife } from "./ha_life.ts";
import { HANode, type Promotion } from "./ha_node.ts";
import { HAOperator } from "./ha_operator.ts";
import { HA_TAKEOVER_NAMES } from "./ha_takeovers.ts";
import { HAPairChecker } from "./ha_pair_checker.ts";
import { type HAPlant, HAPlanter } from "./ha_plants.ts";
import { HAWire } from "./ha_wire.ts";
import { SimClock } from "./sim_clock.ts";
import { SimNetwork } from "./sim_network.ts";
import { SimRandom } from "./sim_random.ts";

/** Puts, file rolls and faults that no schedule has less of. */
const PUTS_MIN = 50;
const ROLLS_MIN = 2;
const FAULTS_MIN = 3;

const MESSAGE = brokerInner();
const TURNS = 24;
/** After so many the slave cannot take over now. */
const STORM_TRIES = 5;
/** How long a fault lasts at most, in turns. */
const FAULT_TURNS_MAX = 8;
/** Virtual milliseconds after the last fault within which the pair must have settled. */
const SETTLE_MAX_MS = 30_000;

/** False: it has to be tried again. */
export type Step = () => void | boolean | Promise<void | boolean>;

interface PlannedStep {
  readonly atTurn: number;
  readonly run: Step;
  /** Only once every fault is over, if that comes first. */
  readonly isLast: boolean;
}

export class HAPair {
  readonly clock = new SimClock();
  readonly network = new SimNetwork(this.clock);
  readonly hosts = ["10.0.0.1", "10.0.0.2"] as const;
  readonly random: SimRandom;
  readonly wire: HAWire;
  readonly checker: HAPairChecker;
  readonly operator: HAOperator;
  /** Processes that have to be started, as soon as they can be. */
  readonly wantsStart = new Set<HANode>();
  /** As the operator sees it. */
  master: HANode;
  slave: HANode;
  /** Of all promotions so far. */
  highestEpoch = 0;
  /** Every fault is over. */
  isHealed = false;
  readonly #planter: HAPlanter;
  readonly #fileSize: number;
  /** One change of roles after the other. */
  readonly #isStormy: boolean;
  /** Their stores were worked on, and they have not started since. */
  readonly #operated = new Set<HANode>();
  /** A promise that a start has found broken. */
  #broken: unknown;
  #steps: PlannedStep[] = [];
  #turn = 0;
  #puts = 0;
  /** Those of them that are in a log. */
  #stored = 0;
  #faults = 0;

  constructor(
    seed: number,
    readonly hits: HAHits,
    plant: HAPlant | null = null,
  ) {
    const random = this.random = new SimRandom(seed);
    this.wire = new HAWire(random);
    this.#fileSize = random.pick([2048, 4096]);
    this.#isStormy = random.oneIn(5);
    this.#planter = new HAPlanter(plant);
    const options = this.#nodeOptions();
    const world = {
      clock: this.clock,
      network: this.network,
      random,
      nodes: new Map(),
    };
    const [host, slaveHost] = this.hosts;
    const nodeAt = (at: string, master: string | null): HANode => {
      const node: HANode = new HANode(world, {
        ...options,
        host: at,
        master,
        ...this.#planter.options(),
        wrapProbe: (probe) => this.#planter.probe(probe),
        onSurgery: (between) => this.#onSurgery(node, between),
        wrapEvents: (inner, end) =>
          this.wire.events(this.#planter.events(inner, node), end),
        wrapConnection: (it) => node.isMaster ? this.wire.connection(it) : it,
      });
      return node;
    };
    this.master = nodeAt(host, null);
    this.slave = nodeAt(slaveHost, host);
    this.checker = new HAPairChecker(this);
    this.operator = new HAOperator(this);
  }

  /** Throws when a promise was broken. */
  async run(): Promise<void> {
    const { random } = this;
    await this.start(this.master);
    for (let count = random.nextInt(20); count > 0; count--) this.#put();
    await this.start(this.slave);
    const strikes = Array.from(
      { length: FAULTS_MIN + random.nextInt(3) },
      () => random.nextInt(TURNS),
    );
    for (; this.#turn < TURNS; this.#turn++) {
      for (const at of strikes) if (at === this.#turn) this.#strike();
      await this.#doSteps((it) => it.atTurn <= this.#turn);
      await this.#doStarts();
      for (let count = random.nextInt(5); count > 0; count--) this.#put();
      await this.clock.run(random.nextInt(random.pick([10, 100, 400])));
      this.checker.look();
      if (random.oneIn(3)) this.checker.checkPrefix();
      if (random.oneIn(8)) await this.operator.cure(this.slave);
      this.#throwIfBroken();
    }
    await this.#heal();
    await this.#fill();
    await this.#settle();
    this.#throwIfBroken();
    this.checker.checkAcked();
    this.#checkSize();
  }

  #throwIfBroken(): void {
    if (this.#broken !== undefined) throw this.#broken;
  }

  /** A process ends: kill -9, or with `isPower` the plug. */
  end(node: HANode, isPower: boolean): void {
    // Nobody knows any more what a failed sync has left in the page cache only.
    const isLost = isPower || node.disk.faults.failSync !== undefined;
    if (isLost) this.checker.onPowerLost(node);
    node.end(isPower);
  }

  /** Rejects when the store cannot be opened. */
  async start(node: HANode): Promise<void> {
    this.#onStarted(node, await node.start());
  }

  /** Rejects as the disk does; somebody moves the time on. */
  async restart(
    node: HANode,
    between: () => Promise<void>,
    promotion: Promotion | null,
  ): Promise<void> {
    this.#planter.onPromotion(node, promotion !== null);
    try {
      this.#onStarted(node, await node.restart(between, promotion));
    } finally {
      this.#planter.onPromotion(node, false);
    }
  }

  #onStarted(node: HANode, life: HALife | null): void {
    if (life === null) return;
    this.#planter.onStarted(node, life);
    try {
      if (this.#operated.delete(node)) this.checker.onSurgery(node);
      else this.checker.onStarted(node);
    } catch (error) {
      // Whoever restarts takes it for a disk that is broken.
      this.#broken ??= error;
    }
  }

  /** So many turns from now. */
  later(turns: number, run: Step): void {
    this.#steps.push({ atTurn: this.#turn + turns, run, isLast: false });
  }

  /** The same; behind everything else where the schedule ends before. */
  laterStill(turns: number, run: Step): void {
    this.#steps.push({ atTurn: this.#turn + turns, run, isLast: true });
  }

  /** Both hosts reach each other. */
  get areConnected(): boolean {
    const [one, other] = this.hosts;
    return !this.network.isCut(one, other) &&
      !this.network.link(one, other).isBlackhole &&
      !this.network.link(other, one).isBlackhole;
  }

  onPromoted(heir: HANode): void {
    if (heir !== this.master) {
      [this.master, this.slave] = [this.slave, this.master];
    }
    this.highestEpoch = heir.record!.epoch;
    this.hits.add("promotion");
    if (this.highestEpoch > 1) this.hits.add("promotion: not the first");
    this.checker.onPromoted(heir);
  }

  /** For faults: somebody claims to have acked so much. */
  onFakeAck(offset: number): void {
    this.#planter.onFakeAck(offset);
  }

  #nodeOptions() {
    const { random } = this;
    const store = {
      ...SMALL,
      mappedFileSizeCommitLog: this.#fileSize,
      messageIndexEnable: false,
      cleanFileForciblyEnable: false,
      flushDiskType: random.pick(["ASYNC_FLUSH", "SYNC_FLUSH"] as const),
    };
    const ha = {
      ...DEFAULT_HA_OPTIONS,
      haSendHeartbeatInterval: 500,
      haHousekeepingInterval: 2_000,
      slaveTimeout: 500,
      haAckAfterFlush: random.oneIn(2),
      haAutoReseed: random.oneIn(2),
      haMaxInFlightBytes: random.pick([256, 2048, 65_536]),
    };
    const bootstrap = () => random.pick(["last", "min"] as const);
    return { store, ha, bootstrap };
  }

  /** By the slave itself or by the operator, who waits for it. */
  async #onSurgery(
    node: HANode,
    between: () => Promise<void>,
  ): Promise<void> {
    this.#operated.add(node);
    try {
      await this.restart(node, between, null);
    } catch (error) {
      // As the process: it ends, and a service manager starts it again.
      this.wantsStart.add(node);
      throw error;
    }
  }

  #strike(): void {
    for (let tries = 1;; tries++) {
      const isTakeover = this.#isStormy && tries < STORM_TRIES;
      const name = this.random.pick(
        isTakeover ? HA_TAKEOVER_NAMES : HA_FAULT_NAMES,
      );
      for (const { logger } of [this.master, this.slave]) {
        logger.info(`Turn ${this.#turn}: ${name}`);
      }
      const undo = HA_FAULTS[name]!(this);
      // Nothing there that could be struck: another one.
      if (undo === null) continue;
      this.hits.add(`fault: ${name}`);
      this.#faults++;
      this.later(1 + this.random.nextInt(FAULT_TURNS_MAX), undo);
      return;
    }
  }

  async #doSteps(isDue: (step: PlannedStep) => boolean): Promise<void> {
    const due = this.#steps.filter(isDue).sort((a, b) => a.atTurn - b.atTurn);
    this.#steps = this.#steps.filter((it) => !due.includes(it));
    for (const it of due) {
      if (await it.run() === false) this.#steps.push(it);
    }
  }

  async #doStarts(): Promise<void> {
    for (const node of [...this.wantsStart]) {
      this.wantsStart.delete(node);
      if (node.life !== null) continue;
      if (node.isBusy) {
        this.wantsStart.add(node);
        continue;
      }
      try {
        await this.start(node);
        this.hits.add("restart");
      } catch (error) {
        // A disk that is still broken; the next turn tries again.
        if (this.isHealed) throw error;
        this.end(node, false);
        this.hits.add("restart failed");
      }
      if (node.life === null) this.wantsStart.add(node);
    }
  }

  /** Ends every fault, and then what must come last. */
  async #heal(): Promise<void> {
    const isOpen = () => this.#steps.length > 0 || this.wantsStart.size > 0;
    // A power cut may be on its way.
    await this.clock.run(200);
    for (let round = 0; round < 100 && isOpen(); round++) {
      const hasFirst = this.#steps.some((it) => !it.isLast);
      this.isHealed = !hasFirst;
      await this.#doSteps((it) => !hasFirst || !it.isLast);
      await this.#doStarts();
      await this.clock.run(200);
    }
    this.isHealed = true;
    assert(!isOpen(), "the faults do not end");
  }

  #put(): void {
    const { random } = this;
    const isOther = this.slave.isMaster && random.oneIn(3);
    const node = isOther ? this.slave : this.master;
    const { life } = node;
    if (life === null) return;
    this.#puts++;
    const body = new Uint8Array(20 + random.nextInt(400));
    body.fill(this.#puts & 0xff).set(random.bytes(8));
    const queueId = random.nextInt(2);
    const onAcked = this.checker.onPut(node, body);
    const answer = node.put({ ...MESSAGE, queueId, body });
    const who = isOther ? "put at the former master" : "put";
    void Promise.resolve(answer).then(({ status, phyOffset, size }) => {
      if (life.isOver) return; // Nobody hears a dead process.
      if (phyOffset >= 0) this.#stored++;
      this.hits.add(`${who}: ${status}`);
      if (status === "PUT_OK") onAcked(phyOffset, size);
    });
  }

  /** Every fault is over: at least so many puts and files. */
  async #fill(): Promise<void> {
    const { store } = this.master.life!;
    const end = (ROLLS_MIN + 1) * this.#fileSize;
    const untilMs = this.clock.monotonicMs() + SETTLE_MAX_MS;
    while (this.#stored < PUTS_MIN || store.maxPhyOffset < end) {
      this.#put();
      await this.clock.run(1 + this.random.nextInt(20));
      const nowMs = this.clock.monotonicMs();
      assert(nowMs < untilMs, "the master takes no messages");
    }
  }

  async #settle(): Promise<void> {
    const untilMs = this.clock.monotonicMs() + SETTLE_MAX_MS;
    for (;;) {
      await this.clock.run(200);
      this.checker.look();
      const end = this.checker.end();
      if (end !== null) return this.hits.add(`end: ${end}`);
      assert(this.clock.monotonicMs() < untilMs, this.checker.unsettled);
    }
  }

  /** A check of this generator. */
  #checkSize(): void {
    const rolls = Math.floor(
      (this.master.life!.store.maxPhyOffset - 1) / this.#fileSize,
    );
    const found = { puts: this.#stored, rolls, faults: this.#faults };
    const isFull = found.puts >= PUTS_MIN && found.rolls >= ROLLS_MIN &&
      found.faults >= FAULTS_MIN;
    assert(isFull, `too small a schedule: ${JSON.stringify(found)}`);
  }
}
