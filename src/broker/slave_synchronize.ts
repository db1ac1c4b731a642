/**
 * SlaveSynchronize: keeps the tables of a slave equal to those of its master
 * (reference 8, DESIGN "Metadata").
 *
 * A round every 10 s, the first 3 s after an Apache master is known and at
 * once for one of ours, which also says when a table has changed.
 *
 * Invariants
 * - One round at a time; one request waits for a change at a time.
 * - A table is replaced as a whole, durably, and its version with it; a master
 *   that fails, refuses or answers junk changes nothing.
 */
import type { Clock } from "../io/clock.ts";
import type { Logger } from "../io/logger.ts";
import { type DataVersion, isSameVersion } from "../model/data_version.ts";
import {
  decodeMetadataVersions,
  encodeMetadataVersions,
  isSameVersions,
  METADATA_SETS,
  type MetadataSet,
  type MetadataVersions,
} from "../protocol/body/metadata_versions.ts";
import { ZERO_DATA_VERSION } from "../protocol/body/data_version_body.ts";
import { PocketmqRequestCode } from "../protocol/pocketmq_request_code.ts";
import {
  createRequest,
  type RemotingCommand,
} from "../protocol/remoting_command.ts";
import { ResponseCode, responseCodeName } from "../protocol/response_code.ts";
import { type MetadataStatus, MetadataStatusTable } from "./metadata_status.ts";
import {
  MasterRefusalError,
  MetadataCopier,
  type MetadataCopierPorts,
} from "./metadata_copier.ts";

/** What it needs. */
export interface SlaveSynchronizePorts extends MetadataCopierPorts {
  /** `host:port` of the master's remoting port; null while none is known, or when it is us. */
  masterAddress(): string | null;
  /** This slave's id when clients may read from it, else 0. */
  readableBrokerId(): number;
  /** This slave's remoting address, as others are told. */
  brokerAddr(): string;
  readonly clock: Clock;
  readonly logger: Logger;
}

const FIRST_ROUND_MS = 3_000;
const ROUND_INTERVAL_MS = 10_000;
/** Between two rounds at least, and as long as the last one took. */
const PAUSE_MIN_MS = 200;
const RETRY_MIN_MS = 1_000;
const RETRY_MAX_MS = 5_000;
const REQUEST_TIMEOUT_MS = 3_000;
/** How long the master keeps a request that waits for a change: a vanished one shows by then. */
const WAIT_MS = 5_000;
/** Topics that may have asked for a round between two regular ones. */
const UNKNOWN_TOPICS_MAX = 1_000;
/** Errors of the tables themselves; others mean that the master is not there. */
const TABLE_ERRORS: ReadonlySet<string> = new Set([
  "MasterRefusalError",
  "BodyError",
  "FileError",
  "AuthError",
]);

/** Follows one master. */
export class SlaveSynchronize {
  readonly #ports: SlaveSynchronizePorts;
  readonly #copier: MetadataCopier;
  readonly #status = new MetadataStatusTable();
  #address: string | null = null;
  /** Changes with the master and with every failure; what began before counts no more. */
  #epoch = 0;
  #peer: "unknown" | "pocketmq" | "apache" = "unknown";
  #isAlive = false;
  /** What the log was told last. */
  #told: "nothing" | "follows" | "fails" = "nothing";
  /** Monotonic, as all times here. */
  #knownSinceMs = 0;
  #nextRoundMs = 0;
  #nextRegularMs = 0;
  #lastEndMs = -Infinity;
  #lastRoundMs = 0;
  #retryMs = RETRY_MIN_MS;
  #isRunning = false;
  #isWaiting = false;
  #isChangePending = false;
  #isStopped = false;
  #offsetsVersion: DataVersion | undefined;
  /** Of the master's users, where none are kept here. */
  #foreignAuth: DataVersion = ZERO_DATA_VERSION;
  readonly #unknownTopics = new Set<string>();

  constructor(ports: SlaveSynchronizePorts) {
    this.#ports = ports;
    this.#copier = new MetadataCopier(ports);
  }

  /** Where the tables come from; null while no master is known. */
  get address(): string | null {
    return this.#address;
  }

  /** True while the master answers. */
  get isMasterAlive(): boolean {
    return this.#isAlive;
  }

  /** Its address if it is a PocketMQ broker; null while that is not known. */
  get pocketmqMaster(): string | null {
    return this.#peer === "pocketmq" ? this.#address : null;
  }

  status(): MetadataStatus {
    return this.#status.get();
  }

  /** Every 100 ms. */
  tick(): void {
    if (this.#isStopped) return;
    const address = this.#ports.masterAddress();
    if (address !== this.#address) this.#follow(address);
    if (address === null || this.#isRunning) return;
    if (this.#nowMs() >= this.#nextRoundMs) this.#run(address);
    else if (
      this.#peer === "pocketmq" && !this.#isWaiting && !this.#isChangePending
    ) this.#wait(address, this.#epoch);
  }

  /** A round as soon as may be. */
  syncNow(): void {
    const pauseMs = Math.max(PAUSE_MIN_MS, this.#lastRoundMs);
    const earliestMs = Math.max(this.#nowMs(), this.#lastEndMs + pauseMs);
    this.#nextRoundMs = Math.min(this.#nextRoundMs, earliestMs);
  }

  /** A record of a topic came that the table does not hold. */
  onUnknownTopic(topic: string): void {
    // Once between two regular rounds: the master may have deleted it meanwhile.
    if (this.#unknownTopics.has(topic)) return;
    if (this.#unknownTopics.size >= UNKNOWN_TOPICS_MAX) return;
    this.#unknownTopics.add(topic);
    this.syncNow();
  }

  /** A connection of the client has ended: what answers there next may be another program. */
  onConnectionClosed(address: string): void {
    if (address !== this.#address || this.#peer === "unknown") return;
    this.#fail(this.#epoch, `The connection to master ${address} was closed`);
  }

  /** Asks the master in a client's place; undefined when it does not answer. */
  async forward(
    request: RemotingCommand,
  ): Promise<RemotingCommand | undefined> {
    const address = this.#address;
    if (address === null || !this.#isAlive) return undefined;
    const epoch = this.#epoch;
    try {
      return await this.#ports.client.invoke(
        address,
        createRequest(request.code, { ...request.extFields }, request.body),
        REQUEST_TIMEOUT_MS,
      );
    } catch (error) {
      this.#fail(epoch, sentenceOf(error));
      return undefined;
    }
  }

  /** Begins nothing more; what is under way ends by itself. */
  stop(): void {
    this.#isStopped = true;
    this.#epoch++;
    this.#isAlive = false;
  }

  #follow(address: string | null): void {
    this.#address = address;
    this.#epoch++;
    this.#peer = "unknown";
    this.#isAlive = false;
    this.#told = "nothing";
    this.#isChangePending = false;
    this.#isWaiting = false;
    this.#offsetsVersion = undefined;
    this.#retryMs = RETRY_MIN_MS;
    this.#knownSinceMs = this.#nextRoundMs = this.#nextRegularMs = this
      .#nowMs();
    this.#status.unknown(null);
  }

  #run(address: string): void {
    const epoch = this.#epoch;
    const startedMs = this.#nowMs();
    this.#isRunning = true;
    this.#isChangePending = false;
    if (startedMs >= this.#nextRegularMs) {
      this.#nextRegularMs = startedMs + ROUND_INTERVAL_MS;
      this.#unknownTopics.clear();
    }
    this.#nextRoundMs = this.#nextRegularMs;
    this.#round(address, epoch)
      .catch((error: unknown) => this.#fail(epoch, sentenceOf(error)))
      .finally(() => {
        this.#isRunning = false;
        this.#lastEndMs = this.#nowMs();
        this.#lastRoundMs = this.#lastEndMs - startedMs;
      });
  }

  async #round(address: string, epoch: number): Promise<void> {
    const refusal = this.#ports.refusal();
    if (refusal !== null) {
      // Whoever refuses has logged it.
      for (const set of METADATA_SETS) this.#status.failed(set, refusal);
      this.#nextRoundMs = this.#nowMs() + PAUSE_MIN_MS;
      return;
    }
    const versions = this.#peer === "apache"
      ? null
      : await this.#ask(address, 0);
    if (epoch !== this.#epoch) return;
    if (this.#peer === "unknown") {
      this.#isAlive = true;
      this.#peer = versions === null ? "apache" : "pocketmq";
      const firstMs = this.#knownSinceMs + FIRST_ROUND_MS;
      if (versions === null && this.#nowMs() < firstMs) {
        this.#nextRoundMs = this.#nextRegularMs = firstMs;
        return;
      }
    }
    for (const set of METADATA_SETS) {
      await this.#sync(set, address, versions);
      if (epoch !== this.#epoch) return;
    }
    this.#succeeded();
  }

  async #sync(
    set: MetadataSet,
    address: string,
    versions: MetadataVersions | null,
  ): Promise<void> {
    if (set === "auth" && versions !== null) this.#lookAtUsers(versions.auth);
    const isKnown = versions !== null &&
      isSameVersion(versions[set], this.#known()[set]) &&
      !(set === "consumerOffsets" && this.#ports.consumerOffsetManager.hasOwn);
    try {
      const version = isKnown
        ? versions[set]
        : await this.#copier.copy(set, address, versions === null);
      if (set === "consumerOffsets") this.#offsetsVersion = version;
      const hasOwn = set === "consumerOffsets" &&
        this.#ports.consumerOffsetManager.hasOwn;
      this.#status.synced(set, !hasOwn, version, this.#ports.clock.nowMs());
    } catch (error) {
      const name = error instanceof Error ? error.name : "";
      if (!TABLE_ERRORS.has(name)) throw error;
      // The link may be back in a moment.
      if (this.#ports.refusal() !== null) {
        this.#nextRoundMs = this.#nowMs() + PAUSE_MIN_MS;
      }
      this.#setFailed(set, sentenceOf(error));
    }
  }

  /** A slave without access control stands open beside its master. */
  #lookAtUsers(masters: DataVersion): void {
    if (this.#ports.auth !== undefined) return;
    const isNew = isSameVersion(this.#foreignAuth, ZERO_DATA_VERSION) &&
      !isSameVersion(masters, ZERO_DATA_VERSION);
    this.#foreignAuth = masters;
    if (!isNew) return;
    this.#ports.logger.warn(
      `Master ${this.#address} has users and policies, which this slave does not ask for: set authenticationEnabled=true here too`,
    );
  }

  /** Asks one of our masters to say when something changes. */
  #wait(address: string, epoch: number): void {
    this.#isWaiting = true;
    this.#ask(address, WAIT_MS).then((versions) => {
      if (epoch !== this.#epoch) return;
      this.#isWaiting = false;
      this.#isAlive = true;
      if (versions === null) {
        this.#fail(epoch, `Master ${address} is another program now`);
      } else if (!isSameVersions(versions, this.#known())) {
        this.#onChange(versions);
      }
    }, (error: unknown) => this.#fail(epoch, sentenceOf(error)));
  }

  #onChange(versions: MetadataVersions): void {
    const known = this.#known();
    this.#isChangePending = true;
    this.#status.behind(versions, known);
    // What failed is tried again with the next regular round.
    const isNew = METADATA_SETS.some((it) =>
      this.#status.of(it).error === null &&
      !isSameVersion(versions[it], known[it])
    );
    if (isNew) this.syncNow();
  }

  /** The master's versions, at once or after a change; null from an Apache broker. */
  async #ask(
    address: string,
    waitMs: number,
  ): Promise<MetadataVersions | null> {
    const response = await this.#ports.client.invoke(
      address,
      createRequest(
        PocketmqRequestCode.WAIT_METADATA_CHANGE,
        {
          timeoutMillis: String(waitMs),
          readableBrokerId: String(this.#ports.readableBrokerId()),
          brokerAddr: this.#ports.brokerAddr(),
        },
        encodeMetadataVersions(this.#known()),
      ),
      waitMs + REQUEST_TIMEOUT_MS,
    );
    if (response.code === ResponseCode.SUCCESS) {
      return decodeMetadataVersions(response.body);
    }
    if (response.code === ResponseCode.REQUEST_CODE_NOT_SUPPORTED) return null;
    throw new MasterRefusalError(
      `Master ${address} answered with ${responseCodeName(response.code)}: ` +
        (response.remark ?? ""),
    );
  }

  /** What this slave holds. */
  #known(): MetadataVersions {
    const ports = this.#ports;
    return {
      topics: ports.topicConfigManager.dataVersion,
      subscriptionGroups: ports.subscriptionGroupManager.dataVersion,
      consumerOffsets: this.#offsetsVersion ??
        ports.consumerOffsetManager.dataVersion,
      delayOffsets: ports.delayOffsetFile.dataVersion,
      auth: ports.auth?.dataVersion ?? this.#foreignAuth,
    };
  }

  #succeeded(): void {
    this.#retryMs = RETRY_MIN_MS;
    if (this.#told !== "follows") {
      this.#ports.logger.info(
        `The tables of this slave follow master ${this.#address}`,
        { master: this.#address, peer: this.#peer },
      );
    }
    this.#told = "follows";
  }

  /** The master is not there: asks again soon, as if it were a new one. */
  #fail(epoch: number, reason: string): void {
    if (epoch !== this.#epoch) return;
    this.#epoch++;
    if (this.#told !== "fails") {
      this.#ports.logger.warn(
        `The tables of master ${this.#address} cannot be read, trying on: ` +
          reason,
        { master: this.#address },
      );
    }
    this.#told = "fails";
    this.#isAlive = false;
    this.#isWaiting = false;
    this.#isChangePending = false;
    this.#peer = "unknown";
    this.#nextRoundMs = this.#nowMs() + this.#retryMs;
    this.#nextRegularMs = this.#nextRoundMs;
    this.#retryMs = Math.min(this.#retryMs * 2, RETRY_MAX_MS);
    this.#status.unknown(reason);
  }

  #setFailed(set: MetadataSet, error: string): void {
    if (this.#status.of(set).error !== error) {
      this.#ports.logger.warn(`A table was not taken over: ${error}`, { set });
    }
    this.#status.failed(set, error);
  }

  #nowMs(): number {
    return this.#ports.clock.monotonicMs();
  }
}

function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
