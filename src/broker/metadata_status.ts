/** MetadataStatus: how far each table of a slave follows its master, as `/admin/ha` shows it. */
import { type DataVersion, isSameVersion } from "../model/data_version.ts";
import {
  METADATA_SETS,
  type MetadataSet,
  type MetadataVersions,
} from "../protocol/body/metadata_versions.ts";

/** One table. */
export interface MetadataSetStatus {
  /** Wall clock, milliseconds; null before the first time. */
  readonly lastSyncAt: number | null;
  /** Null while it is not known. */
  readonly inSync: boolean | null;
  readonly dataVersion: DataVersion | null;
  /** One sentence; null while all is well. */
  readonly error: string | null;
}

/** All tables. */
export type MetadataStatus = Readonly<Record<MetadataSet, MetadataSetStatus>>;

const NOTHING: MetadataSetStatus = Object.freeze({
  lastSyncAt: null,
  inSync: null,
  dataVersion: null,
  error: null,
});

/** Keeps the status. */
export class MetadataStatusTable {
  readonly #status: Record<MetadataSet, MetadataSetStatus> = {
    topics: NOTHING,
    subscriptionGroups: NOTHING,
    consumerOffsets: NOTHING,
    delayOffsets: NOTHING,
    auth: NOTHING,
  };

  /** A snapshot. */
  get(): MetadataStatus {
    return { ...this.#status };
  }

  of(set: MetadataSet): MetadataSetStatus {
    return this.#status[set];
  }

  /** The table was compared with the master's, and copied where it had to be. */
  synced(
    set: MetadataSet,
    inSync: boolean,
    dataVersion: DataVersion | undefined,
    nowMs: number,
  ): void {
    this.#status[set] = {
      lastSyncAt: nowMs,
      inSync,
      dataVersion: dataVersion ?? null,
      error: null,
    };
  }

  /** The table could not be taken over. */
  failed(set: MetadataSet, error: string): void {
    this.#status[set] = { ...this.#status[set], inSync: false, error };
  }

  /** The master has other versions now. */
  behind(master: MetadataVersions, known: MetadataVersions): void {
    for (const set of METADATA_SETS) {
      if (isSameVersion(master[set], known[set])) continue;
      this.#status[set] = { ...this.#status[set], inSync: false };
    }
  }

  /** The master is out of reach, or another one (no error). */
  unknown(error: string | null): void {
    for (const set of METADATA_SETS) {
      this.#status[set] = { ...this.#status[set], inSync: null, error };
    }
  }
}
