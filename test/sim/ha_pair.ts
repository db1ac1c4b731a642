/**
 * HAPair: one seeded schedule of a simulated pair: puts, faults and their ends, and what is
 * promised about it.
 *
 * Promises
 * - The slave's log is a prefix of the master's; where it cannot be (the master lost power and
 *   with it bytes that it had sent) the slave takes nothing and says `diverged`.
 * - What was acknowledged as replicated is on the slave, until the slave's own power goes
 *   without haAckAfterFlush.
 * - When every fault is over the pair is in sync, or in a named state that is true.
 */
import { assert } from "@std/assert";
import { DEFAULT_HA_OPTIONS } from "../../src/ha/ha_options.ts";
import { brokerInner } from "../model/message_fixture.ts";
import { SMALL } from "../store/message_store_fixture.ts";
import { HA_FAULT_NAMES, HA_FAULTS, type Undo } from "./ha_faults.ts";
import type { HAHits } from "./ha_hits.ts";
import { HANode } from "./ha_node.ts";
import { HAPairChecker } from "./ha_pair_checker.ts";
import {
  believeAnyAck,
  blindProbe,
  type HAPlant,
  lateLog,
} from "./ha_plants.ts";
import { SimMasterProbe } from "./ha_probe.ts";
import { HAWire, withoutHeaderCheck } from "./ha_wire.ts";
import { SimClock } from "./sim_clock.ts";
import { SimNetwork } from "./sim_network.ts";
import { SimRandom } from "./sim_random.ts";

/** Puts, file rolls and faults that no schedule has less of. */
export const PUTS_MIN = 50;
export const ROLLS_MIN = 2;
export const FAULTS_MIN = 3;

const MESSAGE = brokerInner();
const TURNS = 24;
/** Virtual milliseconds after the last fault within which the pair must have settled. */
const SETTLE_MAX_MS = 30_000;

export class HAPair {
  readonly clock = new SimClock();
  readonly network = new SimNetwork(this.clock);
  readonly hosts = ["10.0.0.1", "10.0.0.2"] as const;
  readonly random: SimRandom;
  readonly wire: HAWire;
  readonly master: HANode;
  readonly slave: HANode;
  /** Processes that have to be started, as soon as they can be. */
  readonly wantsStart = new Set<HANode>();
  readonly #checker: HAPairChecker;
  readonly #hits: HAHits;
  readonly #plant: HAPlant | null;
  readonly #fileSize: number;
  #undos: { atTurn: number; undo: Undo }[] = [];
  #puts = 0;
  /** Those of them that are in a log. */
  #stored = 0;
  #faults = 0;
  #highestFake = -1;

  constructor(seed: number, hits: HAHits, plant: HAPlant | null = null) {
    this.#hits = hits;
    this.#plant = plant;
    const random = this.random = new SimRandom(seed);
    this.wire = new HAWire(random);
    this.#fileSize = random.pick([2048, 4096]);
    const world = { clock: this.clock, network: this.network, random };
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
      haMaxInFlightBytes: random.pick([256, 2048, 65_536]),
    };
    const [host, slaveHost] = this.hosts;
    const probe = () => {
      const bootstrap = random.pick(["last", "min"] as const);
      const it = new SimMasterProbe(
        () => this.slave,
        () => this.master,
        bootstrap,
      );
      return plant === "no-comparison" ? blindProbe(it) : it;
    };
    this.master = new HANode(world, {
      host,
      master: null,
      store,
      ha,
      probe,
      wrapEvents: (inner, end) => this.wire.events(inner, end),
      wrapConnection: (it) => this.wire.connection(it),
    });
    this.slave = new HANode(world, {
      host: slaveHost,
      master: host,
      store: { ...store, brokerRole: "SLAVE", brokerId: 1 },
      ha,
      probe,
      wrapEvents: (inner, end) =>
        this.wire.events(this.#slaveEvents(inner), end),
      ...(plant === "ack-before-append" ? { wrapLog: lateLog } : {}),
    });
    this.#checker = new HAPairChecker(this.master, this.slave, hits);
  }

  /** Throws when a promise was broken. */
  async run(): Promise<void> {
    const { random } = this;
    await this.#start(this.master);
    for (let count = random.nextInt(20); count > 0; count--) this.#put();
    await this.#start(this.slave);
    const strikes = Array.from(
      { length: FAULTS_MIN + random.nextInt(3) },
      () => random.nextInt(TURNS),
    );
    for (let turn = 0; turn < TURNS; turn++) {
      for (const at of strikes) if (at === turn) this.#strike(turn);
      await this.#undo(turn);
      for (let count = random.nextInt(5); count > 0; count--) this.#put();
      await this.clock.run(random.nextInt(random.pick([10, 100, 400])));
      this.#checker.look(this.clock.monotonicMs());
      if (random.oneIn(3)) this.#checker.checkPrefix();
    }
    await this.#undo(Infinity);
    await this.#fill();
    await this.#settle();
    this.#checker.checkAcked();
    this.#checkSize();
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

  /** For faults: a process is about to end. */
  onDown(node: HANode, isPower: boolean): void {
    if (!isPower || node.life === null) return;
    if (node === this.master) this.#checker.mayDiverge = true;
    else this.#checker.onSlavePowerLost();
  }

  /** For faults: somebody claims to have acked so much. */
  onFakeAck(offset: number): void {
    this.#highestFake = Math.max(this.#highestFake, offset);
  }

  #slaveEvents(inner: Parameters<HAWire["events"]>[0]) {
    return this.#plant === "no-header-check"
      ? withoutHeaderCheck(inner, () => this.slave.life!.store.maxPhyOffset)
      : inner;
  }

  async #start(node: HANode): Promise<void> {
    const life = await node.start();
    if (life === null) return;
    if (node === this.master && this.#plant === "any-ack-believed") {
      believeAnyAck(life.service, () => this.#highestFake);
    }
    if (node === this.slave) this.#checker.checkAcked();
  }

  #strike(turn: number): void {
    const name = this.random.pick(HA_FAULT_NAMES);
    this.#hits.add(`fault: ${name}`);
    for (const { logger } of [this.master, this.slave]) {
      logger.info(`Turn ${turn}: ${name}`);
    }
    this.#faults++;
    const undo = HA_FAULTS[name]!(this);
    this.#undos.push({ atTurn: turn + 1 + this.random.nextInt(8), undo });
  }

  async #undo(turn: number): Promise<void> {
    const due = this.#undos.filter((it) => it.atTurn <= turn);
    this.#undos = this.#undos.filter((it) => it.atTurn > turn);
    for (const { undo } of due) undo();
    for (const node of this.wantsStart) {
      if (node.life !== null) {
        this.wantsStart.delete(node);
        continue;
      }
      try {
        await this.#start(node);
        this.wantsStart.delete(node);
        this.#hits.add("restart");
      } catch (error) {
        // A disk that is still broken; the next turn tries again.
        if (turn === Infinity) throw error;
        node.end(false);
        node.disk.kill();
        this.#hits.add("restart failed");
      }
    }
  }

  #put(): void {
    const life = this.master.life;
    if (life === null) return;
    this.#puts++;
    const body = new Uint8Array(20 + this.random.nextInt(400));
    body.fill(this.#puts & 0xff).set(this.random.bytes(8));
    const answer = life.puts.putMessage({
      ...MESSAGE,
      queueId: this.random.nextInt(2),
      body,
    });
    const onAcked = this.#checker.onPut(body);
    void Promise.resolve(answer).then(({ status, phyOffset, size }) => {
      if (life.isOver) return; // Nobody hears a dead process.
      if (phyOffset >= 0) this.#stored++;
      this.#hits.add(`put: ${status}`);
      if (status === "PUT_OK") onAcked(phyOffset, size);
    });
  }

  /** Every fault is over: at least so many puts and files. */
  async #fill(): Promise<void> {
    const { store } = this.master.life!;
    const end = (ROLLS_MIN + 1) * this.#fileSize;
    while (this.#stored < PUTS_MIN || store.maxPhyOffset < end) {
      this.#put();
      await this.clock.run(this.random.nextInt(20));
    }
  }

  async #settle(): Promise<void> {
    const untilMs = this.clock.monotonicMs() + SETTLE_MAX_MS;
    for (;;) {
      await this.clock.run(200);
      const nowMs = this.clock.monotonicMs();
      this.#checker.look(nowMs);
      const end = this.#checker.end();
      if (end !== null) return this.#hits.add(`end: ${end}`);
      assert(nowMs < untilMs, this.#checker.unsettled);
    }
  }
}
