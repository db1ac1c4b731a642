/**
 * ConsumerOrderInfoManager: queues that were popped in order, kept in
 * `config/consumerOrderInfo.json`. While a message of such a batch is neither acknowledged nor
 * visible again, its queue gives nothing to the group.
 */
import { parseFastjson, writeFastjson } from "../../protocol/fastjson.ts";
import { objectField, objectOf } from "../../protocol/body/json_fields.ts";
import { type BrokerManagerPorts, ConfigManager } from "../config_manager.ts";
import {
  blockedUntil,
  nextOffsetOf,
  nextOrderInfo,
  type OrderInfo,
  orderInfoFromJson,
  orderInfoToJson,
} from "./order_info.ts";

/** How an acknowledgement ended. */
export type OrderCommit =
  /** The group stands there now. */
  | { readonly kind: "commit"; readonly offset: number }
  /** The batch was popped anew meanwhile. */
  | { readonly kind: "stale" }
  /** No message of the batch has that offset. */
  | { readonly kind: "unknown" };

/** Who must exist for an entry to be kept. */
export interface OrderInfoOwners {
  queueNums(topic: string): number | undefined;
  hasGroup(group: string): boolean;
}

/** Batches that nobody came back for are forgotten after a day. */
const KEPT_MS = 86_400_000;
const FILE_NAME = "consumerOrderInfo.json";

/** By `topic@group`, then queueId. */
type Table = Map<string, Map<number, OrderInfo>>;

/** The batches of one broker. */
export class ConsumerOrderInfoManager {
  readonly #ports: BrokerManagerPorts;
  readonly #config: ConfigManager;
  readonly #intervalMs: number;
  #table: Table = new Map();
  /** Queues that are free again then. */
  readonly #locked = new Map<string, readonly [string, string, number]>();
  #flushedMs: number;

  /** `intervalMs`: between two writes. */
  constructor(ports: BrokerManagerPorts, intervalMs: number) {
    this.#ports = ports;
    this.#intervalMs = intervalMs;
    this.#flushedMs = ports.clock.monotonicMs();
    this.#config = new ConfigManager(ports, FILE_NAME, () => this.encode());
  }

  /** Reads the file; never throws. */
  load(): void {
    this.#config.load(parseTable, (table) => this.#table = table);
    for (const [key, queues] of this.#table) {
      for (const queueId of queues.keys()) this.#watch(key, queueId);
    }
  }

  /** The whole file. */
  encode(): string {
    const table = new Map(
      [...this.#table].map(([key, queues]) => [
        key,
        new Map([...queues].map(([id, it]) => [id, orderInfoToJson(it)])),
      ]),
    );
    return writeFastjson({ table });
  }

  /** Resolves when all is durable; rejects with a FileError. */
  persist(): Promise<void> {
    return this.#config.persist();
  }

  /** Writes what changed; `nowMs` is monotonic. */
  tick(nowMs: number): void {
    if (nowMs - this.#flushedMs < this.#intervalMs) return;
    this.#flushedMs = nowMs;
    if (this.#config.isChanged) this.#config.persistSoon();
  }

  /** True when the queue gives nothing, unless the request repeats the one that took the batch. */
  checkBlock(
    attemptId: string | undefined,
    topic: string,
    group: string,
    queueId: number,
  ): boolean {
    const info = this.#get(topic, group, queueId);
    if (info === undefined) return false;
    if (attemptId !== undefined && attemptId === info.attemptId) return false;
    return blockedUntil(info, this.#ports.clock.nowMs()) > 0;
  }

  /** A batch was popped. */
  update(
    topic: string,
    group: string,
    queueId: number,
    popped: Parameters<typeof nextOrderInfo>[1],
  ): OrderInfo {
    const info = nextOrderInfo(this.#get(topic, group, queueId), popped);
    this.#set(topic, group, queueId, info);
    return info;
  }

  /** A message of the batch was consumed. */
  commitAndNext(
    topic: string,
    group: string,
    queueId: number,
    queueOffset: number,
    popTime: number,
  ): OrderCommit {
    const info = this.#get(topic, group, queueId);
    if (info === undefined) return { kind: "commit", offset: queueOffset + 1 };
    if (info.popTime !== popTime) return { kind: "stale" };
    const index = info.offsets.indexOf(queueOffset);
    if (index < 0) return { kind: "unknown" };
    const next = { ...info, commitBits: info.commitBits | (1 << index) };
    this.#set(topic, group, queueId, next);
    return { kind: "commit", offset: nextOffsetOf(next) };
  }

  /** A message of the batch is visible again then; false when the batch is another one now. */
  updateNextVisibleTime(
    topic: string,
    group: string,
    queueId: number,
    queueOffset: number,
    popTime: number,
    visibleMs: number,
  ): boolean {
    const info = this.#get(topic, group, queueId);
    if (info?.popTime !== popTime) return false;
    if (!info.offsets.includes(queueOffset)) return false;
    const nextVisibleTimes = new Map(info.nextVisibleTimes)
      .set(queueOffset, visibleMs);
    this.#set(topic, group, queueId, { ...info, nextVisibleTimes });
    return true;
  }

  /** The group's position was reset. */
  clearBlock(topic: string, group: string, queueId: number): void {
    if (this.#table.get(keyOf(topic, group))?.delete(queueId)) {
      this.#config.markChanged();
    }
  }

  /** Queues that became free since, by time; every 100 ms. */
  takeFreed(): (readonly [topic: string, group: string, queueId: number])[] {
    const freed = [...this.#locked].filter(([, [topic, group, queueId]]) =>
      !this.checkBlock(undefined, topic, group, queueId)
    );
    for (const [key] of freed) this.#locked.delete(key);
    return freed.map(([, queue]) => queue);
  }

  /** Forgets what nobody needs any more. */
  clean({ hasGroup, queueNums }: OrderInfoOwners): void {
    const nowMs = this.#ports.clock.nowMs();
    for (const [key, queues] of this.#table) {
      const [topic, group] = namesOf(key);
      const nums = hasGroup(group) ? queueNums(topic) ?? 0 : 0;
      for (const [queueId, { lastConsumeTimestamp }] of queues) {
        const isKept = queueId < nums &&
          nowMs - lastConsumeTimestamp <= KEPT_MS;
        if (isKept) continue;
        queues.delete(queueId);
        this.#config.markChanged();
      }
      if (queues.size === 0) this.#table.delete(key);
    }
  }

  #get(topic: string, group: string, queueId: number): OrderInfo | undefined {
    return this.#table.get(keyOf(topic, group))?.get(queueId);
  }

  #set(topic: string, group: string, queueId: number, info: OrderInfo): void {
    const key = keyOf(topic, group);
    let queues = this.#table.get(key);
    if (queues === undefined) this.#table.set(key, queues = new Map());
    queues.set(queueId, info);
    this.#watch(key, queueId);
    this.#config.markChanged();
  }

  #watch(key: string, queueId: number): void {
    this.#locked.set(`${key}@${queueId}`, [...namesOf(key), queueId]);
  }
}

function keyOf(topic: string, group: string): string {
  return `${topic}@${group}`;
}

/** Names have no `@`. */
function namesOf(key: string): readonly [topic: string, group: string] {
  const at = key.indexOf("@");
  return [key.slice(0, at), key.slice(at + 1)];
}

function parseTable(text: string): Table {
  const file = objectOf(parseFastjson(text), FILE_NAME);
  const table: Table = new Map();
  for (const [key, queues] of Object.entries(objectField(file, "table"))) {
    const entries = Object.entries(objectOf(queues, key));
    table.set(
      key,
      new Map(entries.map(([id, it]) => [Number(id), orderInfoFromJson(it)])),
    );
  }
  return table;
}
