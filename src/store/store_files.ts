/** StoreFiles: what a store has on the disk; one bounded set of descriptors for all. */
import type { Logger } from "../io/logger.ts";
import { CommitLog } from "./commit_log.ts";
import { ConsumeQueueStore } from "./consume_queue_store.ts";
import { DeletedTopics } from "./deleted_topics.ts";
import { DescriptorCache } from "./descriptor_cache.ts";
import { IndexService } from "./index_service.ts";
import type { MessageStorePorts } from "./message_store_ports.ts";
import { StoreCheckpoint } from "./store_checkpoint.ts";
import type { MessageStoreOptions } from "./store_options.ts";
import { recordStoreSizes } from "./store_sizes.ts";

/** Log, queues, index, checkpoint and what is known of deleted topics. */
export class StoreFiles {
  readonly log: CommitLog;
  readonly queues: ConsumeQueueStore;
  readonly index: IndexService;
  readonly checkpoint: StoreCheckpoint;
  readonly deletedTopics: DeletedTopics;

  constructor(
    ports: MessageStorePorts,
    options: MessageStoreOptions,
    logger: Logger,
  ) {
    const { fileSystem, clock } = ports;
    const cache = new DescriptorCache(options.storeOpenFilesMax);
    this.log = new CommitLog(fileSystem, options, logger, cache);
    this.queues = new ConsumeQueueStore(fileSystem, options, logger, cache);
    this.checkpoint = new StoreCheckpoint(
      fileSystem,
      `${options.storePathRootDir}/checkpoint`,
      logger,
    );
    this.deletedTopics = new DeletedTopics(
      fileSystem,
      options.storePathRootDir,
      logger,
    );
    this.index = new IndexService(
      { fileSystem, clock, logger, checkpoint: this.checkpoint, cache },
      options,
    );
  }

  /** Before the first file is made: a power cut may leave a short one. */
  async recordSizes(options: MessageStoreOptions): Promise<void> {
    if (!recordStoreSizes(this.checkpoint, options)) return;
    await this.checkpoint.flush();
  }

  /**
   * Removes the queues of topics: at once, and for good when resolved. Everything begins in
   * this turn, since a put of the next one belongs to a new topic. Throws `FileError`.
   */
  async deleteTopics(topics: readonly string[]): Promise<void> {
    const { minOffset, maxOffset } = this.log;
    await Promise.all([
      this.deletedTopics.add(topics, minOffset, maxOffset),
      ...topics.map((it) => this.queues.deleteTopic(it)),
    ]);
  }

  /** Where the newest record of a topic's queues ends in the log; -1 without any. */
  recordsEnd(topic: string): number {
    const { queues } = this;
    return Math.max(
      -1,
      ...queues.queueIds(topic).map((it) =>
        queues.get(topic, it)?.maxPhyOffset ?? -1
      ),
    );
  }

  /** Empties the queues of a topic whose records are all below `phyOffset`. */
  async deleteQueuesBefore(topic: string, phyOffset: number): Promise<void> {
    const { queues } = this;
    for (const queueId of queues.queueIds(topic)) {
      const end = queues.get(topic, queueId)?.maxPhyOffset ?? -1;
      if (end <= phyOffset) await queues.resetQueue(topic, queueId);
    }
  }

  /** Makes everything but the log durable. Throws `FileError`. */
  async flushDerived(): Promise<void> {
    await this.deletedTopics.flush();
    await this.queues.flush();
    await this.index.flush();
    await this.checkpoint.flush();
  }

  close(): void {
    this.log.mappedFileQueue.close();
    this.queues.close();
    this.index.close();
  }
}
