/** What MessageStore takes and tells, apart from its methods. */
import type { Clock } from "../io/clock.ts";
import type { FileSystem } from "../io/file_system.ts";
import type { Host } from "../io/host.ts";
import type { Logger } from "../io/logger.ts";
import type { Random } from "../io/random.ts";

/** What the store needs of the world. */
export interface MessageStorePorts {
  readonly fileSystem: FileSystem;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly host?: Host;
}

/** Told of every record that has become visible. */
export type MessageArrivingListener = (
  topic: string,
  queueId: number,
  /** Queue offset of the record plus one. */
  nextOffset: number,
  tagsCode: number,
  storeTimestamp: number,
  propertiesText: string,
) => void;

/** Numbers for metrics; they only grow. */
export interface MessageStoreCounters {
  readonly putCount: number;
  readonly putBytes: number;
  readonly putFailedCount: number;
  readonly corruptRecordCount: number;
  readonly deletedFileCount: number;
}
