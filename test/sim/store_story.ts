/**
 * StoryOfAStore: one seeded life of a SYNC_FLUSH store with power cuts, kills and clean stops,
 * and the checker that says whether it kept its promises.
 */
import { assert, assertEquals } from "@std/assert";
import { readInt64 } from "../../src/base/int64.ts";
import { encodeMessageBatch } from "../../src/model/message_batch.ts";
import { decodeMessageRecord } from "../../src/model/message_record.ts";
import type { MessageStore } from "../../src/store/message_store.ts";
import type { PutMessageResult } from "../../src/store/put_message_result.ts";
import { RecordScan } from "../../src/store/record_scan.ts";
import type { MessageStoreOptions } from "../../src/store/store_options.ts";
import { brokerInner } from "../model/message_fixture.ts";
import { StoreSite } from "../store/message_store_fixture.ts";
import type { SyncCall } from "./sim_faults.ts";

/** What the producer was promised. */
interface Acked {
  readonly topic: string;
  readonly queueId: number;
  readonly queueOffset: number;
  readonly phyOffset: number;
  /** Body and unique key. */
  readonly text: string;
}

/** One is deleted now and then, the others never. */
const DELETED_TOPIC = "D";
const TOPICS = ["A", "%RETRY%B", DELETED_TOPIC];
const QUEUE_COUNT = 2;
const RECOVERY_MARGIN_MS = 3_000;
const encoder = new TextEncoder();

/** What of the story a run may change. */
export interface StoryOptions {
  /** Syncs that answer "done" and do nothing. */
  readonly dropSync?: (call: SyncCall) => boolean;
}

/** One life. */
export class StoreStory {
  readonly #site: StoreSite;
  readonly #acked: Acked[] = [];
  readonly #deletion = new DeletionRecord();
  readonly #options: Partial<MessageStoreOptions>;
  #sent = 0;
  /** Recovery must not begin before it: everything below was made durable for good. */
  #startBound = 0;

  constructor(seed: number, options: StoryOptions = {}) {
    this.#site = new StoreSite(seed);
    const { disk, random } = this.#site;
    disk.faults.dropSync = options.dropSync;
    disk.faults.wholeSyncFilesMin = random.pick([Infinity, 2]);
    disk.faults.syncDelayMs = () => random.nextInt(4);
    this.#options = {
      flushDiskType: "SYNC_FLUSH",
      messageVisibleAfter: random.pick(["append", "flush"]),
      mappedFileSizeCommitLog: random.pick([2048, 4096]),
      mappedFileSizeConsumeQueue: random.pick([100, 400]),
      flushConsumeQueueThoroughInterval: 1_000,
    };
  }

  /** Throws when a promise was broken. */
  async run(): Promise<void> {
    const { random, disk } = this.#site;
    for (let life = 2 + random.nextInt(3); life > 0; life--) {
      const store = await this.#open();
      await this.#work(store);
      switch (random.nextInt(5)) {
        case 0:
          await this.#site.clock.complete(store.shutdown());
          break;
        case 1:
          disk.kill();
          break;
        case 2:
          void store.shutdown();
          await this.#site.clock.run(random.nextInt(30));
          disk.crash();
          break;
        default:
          disk.crash();
      }
      this.#site.clock.cancelAll();
    }
    const store = await this.#open();
    await this.#site.clock.complete(store.shutdown());
  }

  async #open(): Promise<MessageStore> {
    const store = this.#site.create(this.#options);
    const { lines } = this.#site.logger;
    const linesBefore = lines.length;
    await this.#site.clock.complete(store.load());
    const { startOffset } = store.recoveryReport!;
    if (!store.lastExitOk) {
      // What a deletion on its way has left of old queues makes it begin where that was, half
      // a header of an index file at the first record.
      const isWhole = this.#deletion.candidates().length === 1 &&
        !lines.slice(linesBefore).some((it) => it.includes("unfinished index"));
      assert(
        !isWhole || startOffset >= this.#startBound,
        `recovery began at ${startOffset}, ${this.#startBound} was durable`,
      );
    }
    await new StoreChecker(
      this.#site,
      store,
      this.#acked,
      this.#deletion,
    ).check();
    await this.#site.clock.complete(store.start());
    return store;
  }

  async #work(store: MessageStore): Promise<void> {
    const { random, clock } = this.#site;
    for (let turn = 2 + random.nextInt(14); turn > 0; turn--) {
      switch (random.nextInt(9)) {
        case 8:
          if (random.oneIn(3)) await this.#deleteTopic(store);
          break;
        case 0:
          await clock.run(random.nextInt(2_000));
          store.tick(clock.nowMs());
          break;
        case 1:
          store.tick(clock.nowMs());
          break;
        case 2:
          this.#sendBatch(store);
          break;
        default:
          for (let count = 1 + random.nextInt(4); count > 0; count--) {
            this.#send(store);
          }
      }
      await clock.run(random.nextInt(6));
      this.#noteStartBound(store);
    }
  }

  /** Sometimes the next messages come while it is running. */
  async #deleteTopic(store: MessageStore): Promise<void> {
    const { random, clock } = this.#site;
    const promised = this.#deletion.begin(store.maxPhyOffset);
    const deletion = store.deleteTopics([DELETED_TOPIC]).then(promised);
    if (random.oneIn(2)) await clock.complete(deletion);
  }

  #message() {
    const { random } = this.#site;
    return brokerInner({
      topic: random.pick(TOPICS),
      queueId: random.nextInt(QUEUE_COUNT),
      waitStoreMsgOk: !random.oneIn(8),
    });
  }

  #send(store: MessageStore): void {
    const { random } = this.#site;
    const message = this.#message();
    const text = this.#nextText();
    const result = store.putMessage({
      ...message,
      body: encoder.encode(text),
      propertiesText: `UNIQ_KEY\u0001${keyOf(text)}\u0002` +
        (random.oneIn(2) ? "TAGS\u0001T\u0002" : ""),
      tagsCode: 0,
    });
    this.#onAnswer(result, message, [text]);
  }

  #sendBatch(store: MessageStore): void {
    const { random } = this.#site;
    const message = this.#message();
    const texts = Array.from(
      { length: 1 + random.nextInt(4) },
      () => this.#nextText(),
    );
    const body = encodeMessageBatch(texts.map((text) => ({
      flag: 0,
      body: encoder.encode(text),
      propertiesText: `UNIQ_KEY\u0001${keyOf(text)}\u0002`,
    })));
    const batch = { ...message, body, propertiesText: "", isBatch: true };
    this.#onAnswer(
      store.putMessages(batch as typeof batch & { isBatch: true }),
      message,
      texts,
    );
  }

  #nextText(): string {
    const size = this.#site.random.nextInt(300);
    return `${this.#sent++}:`.padEnd(size, "x");
  }

  #onAnswer(
    answer: PutMessageResult | Promise<PutMessageResult>,
    message: { topic: string; queueId: number },
    texts: readonly string[],
  ): void {
    // An answer without wait promises nothing about power cuts.
    if (!(answer instanceof Promise)) {
      assertEquals(answer.status, "PUT_OK");
      return;
    }
    void answer.then((result) => {
      if (result.status !== "PUT_OK") return;
      const { topic, queueId } = message;
      texts.forEach((text, index) =>
        this.#acked.push({
          topic,
          queueId,
          queueOffset: result.queueOffset + index,
          phyOffset: result.phyOffsets?.[index] ?? result.phyOffset,
          text,
        })
      );
    });
  }

  /** What a checkpoint on the disk says: recovery may rely on it. */
  #noteStartBound(store: MessageStore): void {
    const { lastCheckpointTimestamp } = store;
    for (const file of store.commitLog.mappedFileQueue.files) {
      if (file.wrotePosition < 64) continue;
      const bytes = new Uint8Array(64);
      file.readAt(0, bytes);
      const storeTimestamp = readInt64(new DataView(bytes.buffer), 56);
      if (storeTimestamp > lastCheckpointTimestamp - RECOVERY_MARGIN_MS) break;
      this.#startBound = file.fileFromOffset;
    }
  }
}

/** Where the deletions of the one topic that is deleted lie in the log. */
class DeletionRecord {
  /** Records below it were deleted for good. */
  promised = 0;
  /** Deletions that nobody has answered: records below one of them may be gone. */
  #begun = new Set<number>();
  /** All that ever began, for good or not. */
  readonly all: number[] = [];

  /** Gives what to call when the deletion is answered. */
  begin(phyOffset: number): () => void {
    const begun = this.#begun;
    begun.add(phyOffset);
    this.all.push(phyOffset);
    return () => {
      // Of a life that has ended.
      if (begun !== this.#begun) return;
      begun.delete(phyOffset);
      this.promised = Math.max(this.promised, phyOffset);
    };
  }

  /** Where the topic may begin after a stop. */
  candidates(): number[] {
    return [this.promised, ...this.#begun].filter((it) => it >= this.promised);
  }

  /** The store has decided. */
  settle(phyOffset: number): void {
    this.promised = phyOffset;
    this.#begun = new Set();
  }
}

function keyOf(text: string): string {
  return `K${text.slice(0, text.indexOf(":"))}`;
}

/** Compares a store that has just recovered with what was promised. */
class StoreChecker {
  /** `topic/queueId` to the phyOffsets of its records, by queue offset. */
  readonly #inLog = new Map<string, number[]>();
  #deletedBelow = 0;

  constructor(
    private readonly site: StoreSite,
    private readonly store: MessageStore,
    private readonly acked: readonly Acked[],
    private readonly deletion: DeletionRecord,
  ) {}

  async check(): Promise<void> {
    this.#chooseDeletion();
    this.#findAcked();
    await this.#findKeys();
  }

  /** With one of the deletions that may have happened everything must fit. */
  #chooseDeletion(): void {
    const candidates = this.deletion.candidates();
    let failure: unknown;
    for (const candidate of candidates) {
      try {
        this.#inLog.clear();
        this.#walkLog(candidate);
        this.#compareQueues();
        this.#deletedBelow = candidate;
        // What the log has lost may be written anew.
        this.deletion.settle(Math.min(candidate, this.store.maxPhyOffset));
        return;
      } catch (error) {
        failure ??= error;
      }
    }
    throw failure;
  }

  /** Offsets are dense and unique in the log itself. */
  #walkLog(deletedBelow: number): void {
    const { commitLog } = this.store;
    const scan = new RecordScan(commitLog, commitLog.minOffset);
    for (;;) {
      const step = scan.step(commitLog.maxOffset, true);
      if (step.kind === "end") return;
      if (step.kind === "blank") {
        scan.offset = commitLog.nextFileOffset(scan.offset);
        continue;
      }
      assert(step.kind === "record", `${step.kind} at ${scan.offset}`);
      const message = decodeMessageRecord(scan.bytes, step.position);
      const key = `${message.topic}/${message.queueId}`;
      const isDeleted = message.topic === DELETED_TOPIC &&
        scan.offset < deletedBelow;
      if (isDeleted) {
        scan.offset += step.size;
        continue;
      }
      let offsets = this.#inLog.get(key) ?? [];
      // A deletion that did not happen still began a queue anew.
      const isAnew = message.topic === DELETED_TOPIC &&
        message.queueOffset === 0 && offsets.length > 0 &&
        this.deletion.all.some((it) => it > offsets[0]! && it <= scan.offset);
      if (isAnew) offsets = [];
      this.#inLog.set(key, offsets);
      assertEquals(message.queueOffset, offsets.length, `offsets of ${key}`);
      offsets.push(scan.offset);
      scan.offset += step.size;
    }
  }

  #compareQueues(): void {
    const queues: string[] = [];
    for (const topic of this.store.topics()) {
      for (const queueId of this.store.queueIds(topic)) {
        const key = `${topic}/${queueId}`;
        const offsets = this.#inLog.get(key) ?? [];
        if (offsets.length > 0) queues.push(key);
        assertEquals(
          this.store.getMaxOffsetInQueue(topic, queueId),
          offsets.length,
          `max offset of ${key}`,
        );
        assertEquals(this.#phyOffsetsOf(topic, queueId), offsets, key);
      }
    }
    assertEquals(queues.sort(), [...this.#inLog.keys()].sort());
  }

  /** What a consumer of the queue would get, from its start. */
  #phyOffsetsOf(topic: string, queueId: number): number[] {
    const found: number[] = [];
    for (let offset = 0;;) {
      const result = this.store.getMessage({
        topic,
        queueId,
        offset,
        maxMsgNums: 32,
        filter: null,
      });
      assert(!(result instanceof Promise), "the pull is cold");
      if (result.status !== "FOUND") return found;
      const { body } = result;
      const view = new DataView(body.buffer, body.byteOffset, body.length);
      for (let at = 0; at < body.length; at += view.getInt32(at)) {
        assertEquals(readInt64(view, at + 20), found.length);
        found.push(readInt64(view, at + 28));
      }
      offset = result.nextBeginOffset;
    }
  }

  #findAcked(): void {
    const decoder = new TextDecoder();
    for (const it of this.acked) {
      const where = `${it.topic}/${it.queueId}`;
      if (this.#isDeleted(it)) continue;
      const phyOffset = this.#inLog.get(where)?.[it.queueOffset];
      assertEquals(phyOffset, it.phyOffset, `acked ${keyOf(it.text)}`);
      const { body } = this.#recordAt(it.phyOffset);
      assertEquals(decoder.decode(body), it.text);
    }
  }

  #isDeleted({ topic, queueId, phyOffset }: Acked): boolean {
    if (topic !== DELETED_TOPIC) return false;
    const first = this.#inLog.get(`${topic}/${queueId}`)?.[0] ?? Infinity;
    return phyOffset < Math.max(this.#deletedBelow, first);
  }

  #recordAt(phyOffset: number) {
    const size = new Uint8Array(4);
    const { commitLog } = this.store;
    commitLog.readAt(phyOffset, size);
    const bytes = new Uint8Array(new DataView(size.buffer).getInt32(0));
    commitLog.readAt(phyOffset, bytes);
    return decodeMessageRecord(bytes);
  }

  async #findKeys(): Promise<void> {
    const { random } = this.site;
    const count = Math.min(8, this.acked.length);
    for (let times = 0; times < count; times++) {
      const { topic, text, phyOffset } = random.pick(this.acked);
      const found = await this.site.clock.complete(this.store.queryMessage(
        topic,
        keyOf(text),
        32,
        0,
        Number.MAX_SAFE_INTEGER,
      ));
      const offsets = found.records.map((it) =>
        decodeMessageRecord(it).phyOffset
      );
      assertEquals(offsets, [phyOffset], `key ${keyOf(text)}`);
    }
  }
}
