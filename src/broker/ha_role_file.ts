/**
 * HARoleFile: `config/haRole.json`, the role that a promotion or demotion gave this broker.
 *
 * It beats brokerRole and brokerId of the configuration at every start, so that a service manager
 * which starts a broker again with its old file does not undo a change of roles. Without the file
 * the configuration holds, and the epoch is 0. The backup has the same role as the file: a former
 * one would make a master that nobody has promoted. A file of no use whose backup is of none
 * either is a SLAVE's, for the same reason.
 */
import type { FileSystem } from "../io/file_system.ts";
import type { Logger } from "../io/logger.ts";
import {
  BodyError,
  intField,
  objectOf,
  optionalTextField,
} from "../protocol/body/json_fields.ts";
import { parseFastjson } from "../protocol/fastjson.ts";
import { JsonFile } from "../store/json_file.ts";
import type { BrokerRole } from "./broker_options.ts";

/** What is written down. */
export interface HARoleRecord {
  readonly role: BrokerRole;
  /** 0 for a master, above for a slave. */
  readonly brokerId: number;
  /** Counts promotions in this pair; the stateVersion of whatever a master writes. */
  readonly epoch: number;
  /** End of the log when this broker was last promoted; 0: it never was. */
  readonly promotedAtOffset: number;
  /** Whom a demoted broker follows; absent: as configured, or as the name servers say. */
  readonly haMasterAddress?: string;
  /** Whom a demoted broker follows until a name server names a master. */
  readonly lastMasterAddress?: string;
}

const ROLES: readonly string[] = ["ASYNC_MASTER", "SYNC_MASTER", "SLAVE"];

/** Reads and replaces the file. */
export class HARoleFile {
  readonly file: JsonFile;
  readonly #logger: Logger;

  /** `storePathRootDir` is the folder that holds `config/`. */
  constructor(
    fileSystem: FileSystem,
    storePathRootDir: string,
    logger: Logger,
  ) {
    const path = `${storePathRootDir}/config/haRole.json`;
    this.#logger = logger;
    this.file = new JsonFile(fileSystem, path, logger, "same");
  }

  /** Null when there is none, or none that can be read. Throws `FileError`. */
  read(): HARoleRecord | null {
    return this.file.read(parseHARole) ?? null;
  }

  /**
   * What the file holds, null without one. Where neither it nor its backup can be read nobody knows
   * whether this broker was demoted: it is a SLAVE from then on, whatever the configuration says,
   * and the file says so. Rejects with `FileError`.
   */
  async load(configuredBrokerId: number): Promise<HARoleRecord | null> {
    const record = this.read();
    if (record !== null || !this.file.isDegraded) return record;
    const slave: HARoleRecord = {
      role: "SLAVE",
      brokerId: configuredBrokerId || 1,
      epoch: 0,
      promotedAtOffset: 0,
    };
    await this.write(slave);
    this.#logger.error(
      `${this.file.path} and its backup cannot be read: whether another broker was promoted is not known, so ` +
        `this one is a SLAVE with brokerId=${slave.brokerId} now; ` +
        "if it has to be the master, run `pocketmq ha promote`",
    );
    return slave;
  }

  /** Resolves once the record survives power loss. Rejects with `FileError`. */
  write(record: HARoleRecord): Promise<void> {
    return this.file.write(`${JSON.stringify(record, null, 2)}\n`);
  }
}

/** Throws `BodyError` for whatever is no such record. */
export function parseHARole(text: string): HARoleRecord {
  const json = objectOf(parseFastjson(text), "haRole.json");
  const role = optionalTextField(json, "role") ?? "";
  const brokerId = intField(json, "brokerId", -1);
  const epoch = intField(json, "epoch", -1);
  const promotedAtOffset = intField(json, "promotedAtOffset", -1);
  const haMasterAddress = optionalTextField(json, "haMasterAddress");
  const lastMasterAddress = optionalTextField(json, "lastMasterAddress");
  if (!ROLES.includes(role)) {
    throw new BodyError(`role is none of ${ROLES.join(", ")}`);
  }
  if ((role === "SLAVE") !== (brokerId > 0) || brokerId < 0) {
    throw new BodyError("brokerId is 0 for a master, and above for a SLAVE");
  }
  if (epoch < 0 || promotedAtOffset < 0) {
    throw new BodyError("epoch and promotedAtOffset are 0 or above");
  }
  return {
    role: role as BrokerRole,
    brokerId,
    epoch,
    promotedAtOffset,
    ...(haMasterAddress === undefined ? {} : { haMasterAddress }),
    ...(lastMasterAddress === undefined ? {} : { lastMasterAddress }),
  };
}
