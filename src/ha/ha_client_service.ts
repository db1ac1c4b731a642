/**
 * HAClientService: the slave's side of replication; connects, compares, appends, reports.
 *
 * One attempt: connect the HA port and send nothing, compare both logs over remoting, then
 * report. A link that survives the comparison leads to the same master.
 *
 * Invariants
 * - Nothing is reported before the logs were compared; nothing is appended but at the end.
 * - Between two attempts lies a delay with jitter that grows until bytes were appended, or a link has lived.
 */
import type { Clock } from "../io/clock.ts";
import type { Logger } from "../io/logger.ts";
import type { Connection, Endpoint, Network } from "../io/network.ts";
import type { Random } from "../io/random.ts";
import type { ReplicaLog } from "../store/replica_log.ts";
import type { HAClientView } from "./ha_client.ts";
import { STRANGER_HINT } from "./foreign_master.ts";
import { HAClientLink, type HAClientLinkHost } from "./ha_client_link.ts";
import type { HAConnectionState } from "./ha_connection_state.ts";
import type { HAOptions } from "./ha_options.ts";
import { LagMeter } from "./lag_meter.ts";
import type { HAStop, LogCure, MasterProbe } from "./master_probe.ts";
import { MasterStanding, type MasterStandingView } from "./master_standing.ts";

/** What the service needs. */
export interface HAClientServicePorts {
  readonly network: Network;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly log: ReplicaLog;
  readonly probe: MasterProbe;
  /** The log has grown: followers of this slave want it. */
  onAppended(): void;
}

/** What the faces show. */
export interface HAClientServiceView {
  readonly masterAddr: string | null;
  readonly state: HAConnectionState;
  /** Named problem and sentence; null while bytes may flow. */
  readonly problem: HAStop | null;
  readonly reason: string | null;
  /** What puts an end to the problem; null while none is known. */
  readonly cure: LogCure | null;
  /** Null while there is no link. */
  readonly link: HAClientView | null;
  /** Wall clock, milliseconds. */
  readonly connectedAt: number | null;
  readonly lastReadTimestamp: number | null;
  readonly lastWriteTimestamp: number | null;
  readonly masterMaxOffset: number | null;
  /** Milliseconds since the master's log grew beyond this one, as far as it was asked. */
  readonly lagMs: number | null;
  readonly reconnects: number;
  readonly lastError: string | null;
}

const RETRY_MIN_MS = 200;
const RETRY_MAX_MS = 5_000;
const CONNECT_TIMEOUT_MS = 5_000;
/** Without a byte although the master is ahead: time to ask again. */
const STARVED_MS = 10_000;
/** Between two questions for the end of the master's log. */
const PROBE_INTERVAL_MS = 1_000;

const UNKNOWN_MASTER = "The address of the master is not known yet";

/** Follows one master. */
export class HAClientService implements HAClientLinkHost {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly log: ReplicaLog;
  readonly #ports: HAClientServicePorts;
  #options: HAOptions;
  #masterAddr: string | null = null;
  #link: HAClientLink | null = null;
  #isRunning = false;
  #nextAttemptMs = 0;
  #retryMs = RETRY_MIN_MS;
  #problem: HAStop | null = "disconnected";
  #reason: string | null = UNKNOWN_MASTER;
  #cure: LogCure | null = null;
  #lastError: string | null = null;
  #reconnects = -1;
  #lastReadTimestamp: number | null = null;
  #lastWriteTimestamp: number | null = null;
  #masterMaxOffset: number | null = null;
  /** The last answer of this link's master; `#masterMaxOffset` is unknown when it gave none. */
  #lastMasterMaxOffset: number | null = null;
  #lag = new LagMeter();
  readonly #standing = new MasterStanding();
  #nextProbeMs = 0;
  /** When bytes came last, or none were due. */
  #progressMs = 0;
  #isProbing = false;
  /** A link was asked for bytes and gave none: what is wrong is said until some come. */
  #isUnanswered = false;

  constructor(ports: HAClientServicePorts, options: HAOptions) {
    this.#ports = ports;
    this.clock = ports.clock;
    this.logger = ports.logger;
    this.log = ports.log;
    this.#options = options;
  }

  get masterAddr(): string | null {
    return this.#masterAddr;
  }

  /** True while the link to the master works. */
  get isTransferring(): boolean {
    const link = this.#link;
    return link !== null && link.hasReceived && !link.isEnded;
  }

  /** Where this slave stands, or stood when the link ended. */
  get standing(): MasterStandingView {
    this.#noteStanding();
    return this.#standing.view;
  }

  /** `host:port` of the master's HA port; another one ends the link. */
  follow(address: string): void {
    if (address === this.#masterAddr) return;
    this.#masterAddr = address;
    this.#isUnanswered = false;
    if (this.#reason === UNKNOWN_MASTER) {
      this.#reason = `The master at ${address} has not been reached yet`;
    }
    this.#restart(`the master is at ${address} now`);
  }

  start(): void {
    this.#isRunning = true;
    this.tick();
  }

  stop(): void {
    this.#isRunning = false;
    this.#link?.end("disconnected", "This broker stops following its master");
  }

  reconfigure(options: HAOptions): void {
    const before = this.#options;
    this.#options = options;
    const keys = [
      "haAckAfterFlush",
      "haHousekeepingInterval",
      "haSendHeartbeatInterval",
    ] as const;
    if (keys.every((it) => before[it] === options[it])) return;
    this.#restart("its configuration has changed");
  }

  /** Every 100 ms. */
  tick(): void {
    if (!this.#isRunning) return;
    const nowMs = this.clock.monotonicMs();
    const link = this.#link;
    if (link === null) {
      if (this.#masterAddr !== null && nowMs >= this.#nextAttemptMs) {
        this.#tryToConnect(this.#masterAddr, nowMs);
      }
    } else if (link.machine !== null) {
      link.tick();
      this.#probe(link, nowMs);
      this.#endIfStarved(link, nowMs);
    } else if (
      link.connection === null && nowMs - link.startedMs > CONNECT_TIMEOUT_MS
    ) {
      link.end(
        "disconnected",
        `Cannot connect to the master at ${link.address}: no answer within ${CONNECT_TIMEOUT_MS} ms`,
      );
    }
  }

  view(): HAClientServiceView {
    const current = this.#link;
    const link = current?.machine?.view(this.clock.monotonicMs()) ?? null;
    return {
      masterAddr: this.#masterAddr,
      state: link?.state ?? this.#stateWithoutMachine(),
      problem: this.#problem,
      reason: link?.reason ?? this.#reason,
      cure: this.#cure,
      link,
      connectedAt: current?.connectedAt ?? null,
      lastReadTimestamp: this.#lastReadTimestamp,
      lastWriteTimestamp: this.#lastWriteTimestamp,
      masterMaxOffset: this.#knownMasterMaxOffset(link),
      lagMs: this.#masterMaxOffset === null
        ? null
        : this.#lag.lagMs(this.log.maxOffset, this.clock.monotonicMs()),
      reconnects: Math.max(0, this.#reconnects),
      lastError: this.#lastError,
    };
  }

  onRead(): void {
    this.#lastReadTimestamp = this.clock.nowMs();
  }

  onWritten(): void {
    this.#lastWriteTimestamp = this.clock.nowMs();
  }

  onAppended(): void {
    this.#retryMs = RETRY_MIN_MS;
    this.#progressMs = this.clock.monotonicMs();
    this.#ports.onAppended();
  }

  onEnded(link: HAClientLink, problem: HAStop, reason: string): void {
    if (this.#link !== link) return;
    this.#link = null;
    // Whoever says a few bytes and goes is no master: only time and data count.
    const livedMs = this.clock.monotonicMs() - link.startedMs;
    if (livedMs > RETRY_MAX_MS && link.hasReceived) {
      this.#retryMs = RETRY_MIN_MS;
    }
    if (link.machine !== null && !link.hasReceived) this.#isUnanswered = true;
    this.#fail(problem, reason);
  }

  #noteStanding(): void {
    const { maxOffset } = this.log;
    const masterMaxOffset = this.#lastMasterMaxOffset;
    if (masterMaxOffset === null) return;
    this.#standing.onFollows(
      masterMaxOffset - maxOffset,
      this.#lag.lagMs(maxOffset, this.clock.monotonicMs()),
    );
  }

  /** Names what is wrong, and plans the next attempt. */
  #fail(problem: HAStop, reason: string): void {
    const isNews = this.#problem !== problem || this.#reason !== reason;
    this.#problem = problem;
    this.#reason = reason;
    this.#cure = null;
    this.#lastError = reason;
    this.#noteStanding();
    this.#masterMaxOffset = null;
    this.#lastMasterMaxOffset = null;
    if (isNews && this.#isRunning) {
      this.logger.warn(reason, { problem, master: this.#masterAddr });
    }
    const half = Math.ceil(this.#retryMs / 2);
    this.#nextAttemptMs = this.clock.monotonicMs() + half +
      this.#ports.random.nextInt(half);
    this.#retryMs = Math.min(this.#retryMs * 2, RETRY_MAX_MS);
  }

  /** As asked, and at least what the master has sent since. */
  #knownMasterMaxOffset(link: HAClientView | null): number | null {
    const asked = this.#masterMaxOffset;
    return asked === null || link?.state !== "TRANSFER"
      ? asked
      : Math.max(asked, this.log.maxOffset);
  }

  #stateWithoutMachine(): HAConnectionState {
    if (this.#link?.connection) return "HANDSHAKE";
    return this.#isRunning ? "READY" : "SHUTDOWN";
  }

  /** A new link at once, in place of the present one. */
  #restart(why: string): void {
    this.#link?.end("disconnected", `The link ends: ${why}`);
    this.#retryMs = RETRY_MIN_MS;
    this.#nextAttemptMs = 0;
    this.tick();
  }

  /** A store that takes nothing asks for nothing. */
  #tryToConnect(address: string, nowMs: number): void {
    const refusal = this.log.unappendableReason;
    if (refusal === null) return this.#connect(address, nowMs);
    this.#fail("stalled", `The store takes no bytes: ${refusal}`);
  }

  #connect(address: string, nowMs: number): void {
    const link = new HAClientLink(this, this.#options, address, nowMs);
    this.#link = link;
    this.#ports.network.connect(endpointOf(address), link).then(
      (connection) => this.#onConnected(link, connection),
      (error: unknown) =>
        link.end(
          "disconnected",
          `The master is out of reach: ${messageOf(error)}` +
            ((error as { code?: unknown }).code === "ECONNRESET"
              ? STRANGER_HINT
              : ""),
        ),
    );
  }

  #onConnected(link: HAClientLink, connection: Connection): void {
    if (link.isEnded) {
      connection.terminate();
      return;
    }
    link.connection = connection;
    link.connectedAt = this.clock.nowMs();
    this.#compare(link).catch((error: unknown) =>
      link.end(
        "disconnected",
        `Cannot compare the logs with the master at ${link.address}: ${
          messageOf(error)
        }`,
      )
    );
  }

  async #compare(link: HAClientLink): Promise<void> {
    const compared = await this.#ports.probe.compare(link.address);
    if (link.isEnded) return;
    if (compared.kind === "stop") {
      this.#standing.onStopped(compared.problem, compared.reason);
      link.end(compared.problem, compared.reason);
      this.#cure = compared.cure ?? null;
      return;
    }
    this.#masterMaxOffset = compared.masterMaxOffset;
    this.#lastMasterMaxOffset = compared.masterMaxOffset;
    this.#lag = new LagMeter();
    this.#lag.note(compared.masterMaxOffset, this.clock.monotonicMs());
    this.#reconnects++;
    this.#progressMs = this.clock.monotonicMs();
    if (!this.#isUnanswered) this.#forgetProblem();
    link.begin(compared.requestOffset, compared.ports ?? null);
  }

  onReceived(link: HAClientLink): void {
    if (this.#link !== link) return;
    this.#isUnanswered = false;
    this.#forgetProblem();
    this.logger.info(`Replicating from the master at ${link.address}`, {
      master: link.address,
      maxOffset: this.log.maxOffset,
      masterMaxOffset: this.#masterMaxOffset,
    });
  }

  #forgetProblem(): void {
    this.#problem = null;
    this.#reason = null;
    this.#cure = null;
  }

  /** Heartbeats only, while the master is ahead: what comes next may be deleted there. */
  #endIfStarved(link: HAClientLink, nowMs: number): void {
    const { maxOffset } = this.log;
    const masterMaxOffset = this.#masterMaxOffset ?? 0;
    if (masterMaxOffset <= maxOffset) this.#progressMs = nowMs;
    if (nowMs - this.#progressMs <= STARVED_MS) return;
    if (!link.hasReceived) return link.endSilent(STARVED_MS);
    link.end(
      "stalled",
      `The master ends at ${masterMaxOffset}, this broker at ${maxOffset}, and ` +
        `nothing has come for ${STARVED_MS} ms: it asks again`,
    );
  }

  #probe(link: HAClientLink, nowMs: number): void {
    if (this.#isProbing || nowMs < this.#nextProbeMs) return;
    this.#isProbing = true;
    this.#nextProbeMs = nowMs + PROBE_INTERVAL_MS;
    this.#ports.probe.masterMaxOffset(link.address).catch(() => null).then(
      (offset) => {
        this.#isProbing = false;
        if (this.#link !== link) return;
        // A master that stops may answer no more, and yet send for a while.
        if (offset !== null) this.#lastMasterMaxOffset = offset;
        this.#masterMaxOffset = offset;
        if (offset !== null) this.#lag.note(offset, this.clock.monotonicMs());
      },
    );
  }
}

/** Splits `host:port`; IPv6 hosts may stand in brackets. */
export function endpointOf(address: string): Endpoint {
  const colon = address.lastIndexOf(":");
  return {
    hostname: address.slice(0, colon).replace(/^\[|\]$/g, ""),
    port: Number(address.slice(colon + 1)),
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
