/**
 * HAService: the master's side of replication; owns the links of all slaves.
 *
 * The broker binds the port and gives every connection to `accept`.
 *
 * Invariants
 * - Acks count while their link lives; the mark falls when a link goes.
 * - A stranger holds at most one of `LINKS_MAX` places, and loses it to whoever reports.
 */
import type { Clock } from "../io/clock.ts";
import type { Logger } from "../io/logger.ts";
import type { Connection, ConnectionEvents } from "../io/network.ts";
import type { ReplicaLog } from "../store/replica_log.ts";
import {
  GroupTransferService,
  replicatedOffsetOf,
} from "./group_transfer_service.ts";
import { HAConnection } from "./ha_connection.ts";
import type { HACloseCause, LogBounds } from "./ha_connection_effect.ts";
import type { HAProblem } from "./ha_connection_state.ts";
import { HALink, type HALinkHost } from "./ha_link.ts";
import type { HAOptions } from "./ha_options.ts";
import type { AdmissionAnswer } from "./ha_admission.ts";
import { HADrain } from "./ha_drain.ts";
import { HAStrangers, hostOf } from "./ha_strangers.ts";
import { LagMeter } from "./lag_meter.ts";
import { LinkJudge } from "./link_judge.ts";
import { SlaveLinks } from "./slave_links.ts";
import {
  type AcksNeeded,
  type LiveSlave,
  SyncReplicas,
} from "./sync_replicas.ts";

/** What the service needs. */
export interface HAServicePorts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly log: ReplicaLog;
  /** Why the slave that connects from `addr` must not be served; null when it may. */
  admit?(addr: string): AdmissionAnswer | Promise<AdmissionAnswer>;
  /** The slaves alive now have acked up to here. */
  onReplicated(offset: number): void;
}

/** Links at once; above it the oldest one that has not reported goes. */
const LINKS_MAX = 256;

/** How long a slave that was sent away is spoken of; it comes back within seconds. */
const PROBLEM_SHOWN_MS = 15_000;

/** A slave that cannot be served. */
export interface HALinkProblem {
  readonly addr: string;
  readonly problem: HAProblem | "stalled";
  readonly reason: string;
}

const REFUSED: ConnectionEvents = Object.freeze({
  onData() {},
  onDrain() {},
  onClose() {},
});

/** Serves slaves. */
export class HAService implements HALinkHost {
  readonly log: ReplicaLog;
  readonly groupTransferService: GroupTransferService;
  readonly counters = { accepted: 0, protocolErrors: 0 };
  readonly #ports: HAServicePorts;
  readonly #links = new Set<HALink>();
  readonly #slaveLinks = new SlaveLinks(this.#links);
  readonly #replicas: SyncReplicas;
  readonly #lag = new LagMeter();
  readonly #drain = new HADrain();
  #options: HAOptions;
  readonly #strangers: HAStrangers;
  readonly #judge: LinkJudge;
  #scratch: Uint8Array = new Uint8Array(0);
  #lastProblem: (HALinkProblem & { readonly atMs: number }) | null = null;
  #isPushPending = false;
  #isShutdown = false;

  constructor(ports: HAServicePorts, options: HAOptions) {
    this.#ports = ports;
    this.log = ports.log;
    this.#options = options;
    this.#strangers = new HAStrangers(options.haAllowedPeers, ports.logger);
    this.#judge = new LinkJudge(
      ports.logger,
      this.#slaveLinks,
      this.#strangers,
    );
    this.#replicas = new SyncReplicas(options, this.monotonicMs());
    this.groupTransferService = new GroupTransferService(
      options.haPendingSyncRequestsMax,
    );
  }

  /** Milliseconds that a put waits. */
  get slaveTimeout(): number {
    return this.#options.slaveTimeout;
  }

  /** True while puts of a SYNC_MASTER are acknowledged without a slave (haSyncMode=degrade). */
  get isDegraded(): boolean {
    return this.#replicas.isDegraded;
  }

  get links(): Iterable<HALink> {
    return this.#links;
  }

  /** Connections refused by haAllowedPeers. */
  get refusedCount(): number {
    return this.#strangers.refusedCount;
  }

  /** Slaves that cannot be served; one that was sent away is tried again and again. */
  problems(): HALinkProblem[] {
    const problems: HALinkProblem[] = [];
    for (const link of this.#links) {
      const { addr, machine, refusal } = link;
      if (refusal !== null) {
        problems.push({ addr, problem: "stalled", reason: refusal });
      }
      const { problem, reason } = machine.view(this.monotonicMs());
      if (problem !== null && this.#judge.isBelieved(link)) {
        problems.push({ addr, problem, reason: reason! });
      }
    }
    const last = this.#lastProblem;
    if (last !== null && this.monotonicMs() - last.atMs < PROBLEM_SHOWN_MS) {
      problems.push(last);
    }
    return problems;
  }

  /** Slaves alive and in sync with the end of the log. */
  get inSyncSlaveNums(): number {
    let count = 0;
    for (const link of this.#links) if (this.isInSync(link)) count++;
    return count;
  }

  /** True for a slave that follows: near the end, and not behind without progress. */
  isInSync(link: HALink): boolean {
    if (!link.machine.isProvenSlave) return false;
    const { maxOffset } = this.log;
    return this.#replicas.isInSync(
      this.#liveSlave(link),
      maxOffset,
      this.monotonicMs(),
    );
  }

  #liveSlave(link: HALink): LiveSlave {
    return {
      slaveAckOffset: link.machine.slaveAckOffset,
      lastProgressMs: link.lastProgressMs,
      lagMs: this.lagMsOf(link),
    };
  }

  /** Milliseconds since the log grew beyond what a slave has acked. */
  lagMsOf({ machine }: HALink): number {
    return this.#lag.lagMs(machine.slaveAckOffset, this.monotonicMs());
  }

  /** What as many slaves as a put waits for (one at least) have acked; null without them. */
  get replicatedOffset(): number | null {
    const ackNums = Math.max(1, this.#options.inSyncReplicas - 1);
    const offset = replicatedOffsetOf(this.#slaveLinks.acks, ackNums);
    return offset < 0 ? null : offset;
  }

  /** First offset that a connected slave still needs; undefined without any. */
  get slaveNeedsFrom(): number | undefined {
    let least: number | undefined;
    for (const { machine } of this.#links) {
      const from = machine.neededFrom;
      if (from >= 0 && (least === undefined || from < least)) least = from;
    }
    return least;
  }

  /** Why a put must not be stored; null when it may. */
  refusalOfPut(): string | null {
    return this.#replicas.refusalOf(this.#slaveLinks.acks, this.log.maxOffset);
  }

  /** What a put that ends at `nextOffset` has to wait for. */
  neededFor(nextOffset: number): AcksNeeded {
    return this.#replicas.needed(this.#slaveLinks.acks, nextOffset);
  }

  /** A connection of the HA port. */
  accept(connection: Connection): ConnectionEvents {
    const { remoteAddress } = connection;
    const isStranger = this.#strangers.isStranger(remoteAddress);
    if (isStranger) {
      this.#strangers.onRefused(remoteAddress, this.monotonicMs());
    }
    if (isStranger || this.#isShutdown) {
      connection.terminate();
      return REFUSED;
    }
    this.counters.accepted++;
    if (this.#links.size >= LINKS_MAX) this.#evict();
    const nowMs = this.monotonicMs();
    const host = hostOf(connection.remoteAddress);
    const machine = new HAConnection(
      this.#options,
      nowMs,
      (offset) => this.#judge.divergedSlaves.has(host, offset),
    );
    const link = new HALink(
      this,
      connection,
      machine,
      this.#ports.clock.nowMs(),
    );
    this.#links.add(link);
    return link;
  }

  /** The log has grown: slaves get it at the end of this turn, all puts of it together. */
  onAppended(): void {
    if (this.#links.size === 0 || this.#isPushPending) return;
    this.#isPushPending = true;
    Promise.resolve().then(this.#push);
  }

  /** Every 100 ms. */
  tick(): void {
    this.#lag.note(this.log.maxOffset, this.monotonicMs());
    for (const link of [...this.#links]) link.tick();
    this.#onSlaves();
    this.groupTransferService.tick(this.#slaveLinks.slaves, this.monotonicMs());
    this.#lookAtDrain();
  }

  reconfigure(options: HAOptions): void {
    this.#options = options;
    this.#strangers.reconfigure(options.haAllowedPeers);
    this.#replicas.reconfigure(options);
    for (const link of [...this.#links]) {
      link.machine.reconfigure(options);
      if (this.#strangers.isStranger(link.addr)) {
        link.close("the slave is not in haAllowedPeers any more");
      }
    }
  }

  /** Resolves when every slave has acked the end of the log, or at the deadline. */
  drained(deadlineMs: number): Promise<void> {
    const drained = this.#drain.wait(deadlineMs);
    this.#lookAtDrain();
    return drained;
  }

  /** Ends every link and every wait. */
  shutdown(reason: string): void {
    this.#isShutdown = true;
    for (const link of [...this.#links]) link.close(reason);
    this.groupTransferService.shutdown();
  }

  get haHousekeepingInterval(): number {
    return this.#options.haHousekeepingInterval;
  }

  admit(addr: string): AdmissionAnswer | Promise<AdmissionAnswer> {
    return this.#ports.admit?.(addr) ?? null;
  }

  bounds(): LogBounds {
    return this.log;
  }

  monotonicMs(): number {
    return this.#ports.clock.monotonicMs();
  }

  scratch(size: number): Uint8Array {
    if (this.#scratch.length < size) this.#scratch = new Uint8Array(size);
    return this.#scratch.subarray(0, size);
  }

  onAcked(link: HALink): void {
    link.lastAckAt = this.#ports.clock.nowMs();
    link.lastProgressMs = this.monotonicMs();
    this.#slaveLinks.onAcked(link);
    this.#onSlavesChanged();
  }

  onState(link: HALink): void {
    this.#slaveLinks.onState(link);
    const view = link.machine.view(this.monotonicMs());
    if (view.state === "SHUTDOWN") return; // Told when the link ends.
    if (!this.#judge.mayTell(link, this.monotonicMs())) return;
    const message = `Slave ${link.addr} is in state ${view.state}` +
      (view.reason === null ? "" : `: ${view.reason}`);
    const fields = {
      slave: link.addr,
      state: view.state,
      slaveRequestOffset: view.slaveRequestOffset,
    };
    if (view.problem === null) this.#ports.logger.info(message, fields);
    else this.#ports.logger.warn(message, fields);
  }

  onClosed(link: HALink, reason: string, cause: HACloseCause | null): void {
    this.#links.delete(link);
    const view = link.machine.view(this.monotonicMs());
    if (cause === "protocol" || cause === "ack-beyond") {
      this.counters.protocolErrors++;
    }
    if (this.#judge.onClosed(link, reason, cause, this.monotonicMs())) {
      this.#lastProblem = {
        addr: link.addr,
        problem: view.problem!,
        reason,
        atMs: this.monotonicMs(),
      };
    }
    this.#onSlavesChanged();
  }

  readonly #push = (): void => {
    this.#isPushPending = false;
    for (const link of [...this.#links]) link.push();
  };

  #lookAtDrain(): void {
    this.#drain.look(
      this.#slaveLinks.acks,
      this.log.maxOffset,
      this.monotonicMs(),
    );
  }

  #onSlavesChanged(): void {
    this.#slaveLinks.onChanged();
    this.#onSlaves();
    this.groupTransferService.onAcks(this.#slaveLinks.slaves);
    const { replicatedOffset } = this;
    if (replicatedOffset !== null) this.#ports.onReplicated(replicatedOffset);
    this.#lookAtDrain();
  }

  #onSlaves(): void {
    const slaves: LiveSlave[] = [];
    for (const link of this.#links) {
      if (link.machine.isSlave) slaves.push(this.#liveSlave(link));
    }
    const wasDegraded = this.#replicas.isDegraded;
    this.#replicas.onSlaves(slaves, this.log.maxOffset, this.monotonicMs());
    if (this.#replicas.isDegraded === wasDegraded) return;
    if (wasDegraded) {
      this.#ports.logger.info("Slaves are back in sync: puts wait for them");
    } else {
      this.#ports.logger.warn(
        "No slave has been in sync for haDegradeAfterMs: puts are acknowledged by this broker alone",
        { haDegradeAfterMs: this.#options.haDegradeAfterMs },
      );
    }
  }

  /** Room for a newcomer: the oldest link that has not reported, else the oldest no slave. */
  #evict(): void {
    const all = [...this.#links];
    const silent = all.find((it) => it.machine.slaveAckOffset < 0);
    const loser = silent ?? all.find((it) => !it.machine.isSlave);
    loser?.close(`there are ${LINKS_MAX} links, and this one is no slave`);
  }
}
