/**
 * MetadataCopier: brings one table of a master into the managers of a slave
 * (reference 8.2, 8.3). Masters may be ours or Apache's, 4.9 or 5.x.
 *
 * All requests go to the address of replication, not to listenPort-2: it may
 * be the only one in reach.
 */
import { type DataVersion, isSameVersion } from "../model/data_version.ts";
import { dataVersionFromJson } from "../protocol/body/data_version_body.ts";
import {
  BodyError,
  type JsonObject,
  objectOf,
} from "../protocol/body/json_fields.ts";
import type { MetadataSet } from "../protocol/body/metadata_versions.ts";
import { PocketmqRequestCode } from "../protocol/pocketmq_request_code.ts";
import { parseFastjson } from "../protocol/fastjson.ts";
import { encodeUpdateConsumerOffsetRequestHeader } from "../protocol/header/consumer_offset_header.ts";
import { createRequest } from "../protocol/remoting_command.ts";
import { RequestCode, requestCodeName } from "../protocol/request_code.ts";
import { ResponseCode, responseCodeName } from "../protocol/response_code.ts";
import type { GuardTable } from "../remoting/request_processor.ts";
import type { OuterClient } from "./broker_outer_api.ts";
import type { ConsumerOffsetManager } from "./consumer_offset_manager.ts";
import type { ConsumerQueueOffset } from "./consumer_offset_merge.ts";
import { DelayOffsetCopy, type DelayOffsetLog } from "./delay_offset_copy.ts";
import { type DelayOffsetFile, withTimers } from "./delay_offset_file.ts";
import { HAMasterLog } from "./ha_master_log.ts";
import type { MessageRequestModeFile } from "./message_request_mode_file.ts";
import type { SubscriptionGroupManager } from "./subscription_group_manager.ts";
import { decodeTimerCheckpoint, progressOf } from "./timer/timer_checkpoint.ts";
import type { TimerMetrics } from "./timer/timer_metrics.ts";
import type { TimerProgress } from "./timer/timer_progress.ts";
import type { TopicQueueCleaner } from "./topic_queue_cleaner.ts";
import type { TopicConfigManager } from "./topic_config_manager.ts";

/** What is copied into, and over what. */
export interface MetadataCopierPorts {
  readonly client: OuterClient;
  readonly topicConfigManager: TopicConfigManager;
  readonly subscriptionGroupManager: SubscriptionGroupManager;
  readonly consumerOffsetManager: ConsumerOffsetManager;
  readonly delayOffsetFile: DelayOffsetFile;
  readonly messageRequestModeFile: MessageRequestModeFile;
  readonly timerMetrics: TimerMetrics;
  readonly messageStore: {
    deleteTopics(topics: readonly string[]): Promise<void>;
    readonly replicaLog: DelayOffsetLog;
  };
  readonly topicQueueCleaner: Pick<TopicQueueCleaner, "add">;
  /** Users and policies; undefined: there are none here. */
  readonly auth?: GuardTable | undefined;
  /** Why this master must not be followed now, as when the logs differ; null: it may. */
  refusal(): string | null;
}

/** The master answered, but not with the table. */
export class MasterRefusalError extends Error {
  override readonly name = "MasterRefusalError";
}

/** Milliseconds for one table: a thin link carries the log as well. */
const TABLE_TIMEOUT_MS = 10_000;
const PUSH_TIMEOUT_MS = 3_000;
/** Offsets told to the master in one round, and at once. */
const PUSHED_MAX = 10_000;
const PUSHED_AT_ONCE_MAX = 64;
const DECODER = new TextDecoder();

/** Copies. */
export class MetadataCopier {
  readonly #ports: MetadataCopierPorts;
  readonly #delayOffsetCopy: DelayOffsetCopy;

  constructor(ports: MetadataCopierPorts) {
    this.#ports = ports;
    this.#delayOffsetCopy = new DelayOffsetCopy(
      ports.delayOffsetFile,
      ports.messageStore.replicaLog,
    );
  }

  /**
   * Resolves with the master's version of the table once it holds here, or
   * the former one of delay offsets that this slave's log is too short for;
   * undefined when it states none. Rejects with `MasterRefusalError`,
   * `BodyError`, `FileError`, or with the client's errors.
   */
  copy(
    set: MetadataSet,
    master: string,
    isApache: boolean,
  ): Promise<DataVersion | undefined> {
    switch (set) {
      case "topics":
        return this.#topics(master);
      case "subscriptionGroups":
        return this.#groups(master);
      case "consumerOffsets":
        return this.#consumerOffsets(master, isApache);
      case "delayOffsets":
        return this.#delayOffsets(master, isApache);
      case "auth":
        return this.#auth(master, isApache);
    }
  }

  async #topics(master: string): Promise<DataVersion> {
    const { topicConfigManager, messageStore } = this.#ports;
    const text = await this.#ask(master, RequestCode.GET_ALL_TOPIC_CONFIG);
    const version = checkTable(text, "topicConfigTable");
    if (isSameVersion(version, topicConfigManager.dataVersion)) return version;
    const { gone, deletions } = await topicConfigManager.replaceAll(text);
    for (const topic of gone) {
      this.#ports.consumerOffsetManager.cleanOffsetByTopic(topic);
    }
    for (const [topic, logEnd] of deletions) {
      this.#ports.topicQueueCleaner.add(topic, logEnd);
    }
    // An Apache master does not say where its log was then.
    const now = gone.filter((it) => !deletions.has(it));
    if (now.length > 0) await messageStore.deleteTopics(now);
    return version;
  }

  async #groups(master: string): Promise<DataVersion> {
    const groups = this.#ports.subscriptionGroupManager;
    const text = await this.#ask(
      master,
      RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG,
    );
    const version = checkTable(text, "subscriptionGroupTable");
    if (!isSameVersion(version, groups.dataVersion)) {
      await groups.replaceAll(text);
    }
    await this.#messageRequestModes(master);
    return version;
  }

  /** With the groups, whose they are; a 4.9 master does not know the code. */
  async #messageRequestModes(master: string): Promise<void> {
    try {
      await this.#ports.messageRequestModeFile.replaceAll(
        await this.#ask(master, RequestCode.GET_ALL_MESSAGE_REQUEST_MODE),
      );
    } catch (error) {
      if (!(error instanceof MasterRefusalError)) throw error;
    }
  }

  async #consumerOffsets(
    master: string,
    isApache: boolean,
  ): Promise<DataVersion | undefined> {
    const { consumerOffsetManager, subscriptionGroupManager } = this.#ports;
    const text = await this.#ask(master, RequestCode.GET_ALL_CONSUMER_OFFSET);
    if (text === "") return undefined;
    const { ahead, dataVersion } = consumerOffsetManager.followMaster(
      text,
      isApache
        ? (group) => subscriptionGroupManager.containsSubscriptionGroup(group)
        : null,
    );
    const pushed = ahead.slice(0, PUSHED_MAX);
    for (let from = 0; from < pushed.length; from += PUSHED_AT_ONCE_MAX) {
      const some = pushed.slice(from, from + PUSHED_AT_ONCE_MAX);
      await Promise.all(some.map((it) => this.#push(master, it)));
    }
    return dataVersion;
  }

  async #delayOffsets(
    master: string,
    isApache: boolean,
  ): Promise<DataVersion> {
    const { client, delayOffsetFile } = this.#ports;
    let text = await this.#ask(master, RequestCode.GET_ALL_DELAY_OFFSET);
    const timers = isApache ? await this.#timersOfApache(master) : undefined;
    if (timers !== undefined) text = withTimers(text, timers);
    await this.#timerMetrics(master);
    const maxOffsetOf = async () =>
      (await new HAMasterLog(client, master).bounds()).maxOffset;
    // An Apache master that delivers nothing yet has no table.
    if (text !== "") {
      await this.#delayOffsetCopy.take(master, text, maxOffsetOf);
    }
    return delayOffsetFile.dataVersion;
  }

  /** An Apache broker keeps its users for itself. */
  async #auth(
    master: string,
    isApache: boolean,
  ): Promise<DataVersion | undefined> {
    const { auth } = this.#ports;
    if (auth === undefined || isApache) return auth?.dataVersion;
    const text = await this.#ask(master, PocketmqRequestCode.GET_ALL_AUTH);
    await auth.replaceAll(text);
    return auth.dataVersion;
  }

  /** Undefined for a master that knows no timers. */
  async #timersOfApache(master: string): Promise<TimerProgress | undefined> {
    const body = await this.#askUnlessRefused(
      master,
      RequestCode.GET_TIMER_CHECK_POINT,
    );
    const checkpoint = body && decodeTimerCheckpoint(body);
    return checkpoint && progressOf(checkpoint);
  }

  /** A view for tools: nothing depends on it. */
  async #timerMetrics(master: string): Promise<void> {
    const body = await this.#askUnlessRefused(
      master,
      RequestCode.GET_TIMER_METRICS,
    );
    if (body !== undefined) {
      await this.#ports.timerMetrics.replaceAll(DECODER.decode(body));
    }
  }

  async #askUnlessRefused(
    master: string,
    code: number,
  ): Promise<Uint8Array | undefined> {
    try {
      return await this.#askBytes(master, code);
    } catch (error) {
      if (!(error instanceof MasterRefusalError)) throw error;
      return undefined;
    }
  }

  /** Tells the master where a group stands. */
  async #push(master: string, it: ConsumerQueueOffset): Promise<void> {
    const { group, topic, queueId, offset } = it;
    const response = await this.#ports.client.invoke(
      master,
      createRequest(
        RequestCode.UPDATE_CONSUMER_OFFSET,
        encodeUpdateConsumerOffsetRequestHeader({
          consumerGroup: group,
          topic,
          queueId,
          commitOffset: offset,
        }),
      ),
      PUSH_TIMEOUT_MS,
    );
    const { consumerOffsetManager } = this.#ports;
    switch (response.code) {
      case ResponseCode.SUCCESS:
        consumerOffsetManager.forwarded(group, topic, queueId, offset);
        break;
      case ResponseCode.INVALID_PARAMETER:
        consumerOffsetManager.refused(it);
        break;
      default:
        // It may know the group or the topic later.
    }
  }

  async #ask(master: string, code: number): Promise<string> {
    return DECODER.decode(await this.#askBytes(master, code));
  }

  async #askBytes(master: string, code: number): Promise<Uint8Array> {
    const response = await this.#ports.client.invoke(
      master,
      createRequest(code),
      TABLE_TIMEOUT_MS,
    );
    // Asked again: the answer may be that of another process at the same address.
    const refusal = this.#ports.refusal();
    if (refusal !== null) {
      throw new MasterRefusalError(
        `What ${master} answered to ${
          requestCodeName(code)
        } is not taken: ${refusal}`,
      );
    }
    if (response.code === ResponseCode.SUCCESS) {
      return response.body;
    }
    throw new MasterRefusalError(
      `Master ${master} answered ${requestCodeName(code)} with ` +
        `${responseCodeName(response.code)}: ${response.remark ?? ""}`,
    );
  }
}

/**
 * The version of an answer. Throws `BodyError` for an empty table: every
 * broker has topics and groups of its own, so that one is no master's.
 */
function checkTable(text: string, tableKey: string): DataVersion {
  let json: JsonObject;
  try {
    json = objectOf(parseFastjson(text), tableKey);
  } catch (cause) {
    throw new BodyError(`The master's ${tableKey} is no JSON`, { cause });
  }
  if (Object.keys(objectOf(json[tableKey], tableKey)).length === 0) {
    throw new BodyError(`The master's ${tableKey} is empty`);
  }
  return dataVersionFromJson(json.dataVersion);
}
