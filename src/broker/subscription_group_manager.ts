/**
 * SubscriptionGroupManager: the consumer groups of this broker, kept in
 * `config/subscriptionGroup.json`.
 */
import { type DataVersion, nextVersion } from "../model/data_version.ts";
import {
  createSubscriptionGroupConfig,
  type SubscriptionGroupConfig,
} from "../model/subscription_group_config.ts";
import { SYSTEM_GROUP_PREFIX, SYSTEM_GROUPS } from "../model/topic_names.ts";
import { groupError } from "../model/validators.ts";
import {
  integerOf,
  type JsonObject,
  objectOf,
} from "../protocol/body/json_fields.ts";
import {
  subscriptionGroupConfigFromJson,
  subscriptionGroupConfigToJson,
} from "../protocol/body/subscription_group_config_body.ts";
import type { BrokerOptions } from "./broker_options.ts";
import { type BrokerManagerPorts, ConfigManager } from "./config_manager.ts";
import { type TableCodec, TableFile } from "./table_file.ts";

const FORBIDDEN_TABLE = "forbiddenTable";

/** subscriptionGroup.json; a config carries its own unknown keys. */
export const GROUPS_CODEC: TableCodec<SubscriptionGroupConfig> = {
  fileName: "subscriptionGroup.json",
  tableKey: "subscriptionGroupTable",
  fromJson: (json, name) => ({
    ...subscriptionGroupConfigFromJson(json, name),
    groupName: name,
  }),
  toJson: subscriptionGroupConfigToJson,
  entryKeys: null,
};

/** The groups. */
export class SubscriptionGroupManager {
  readonly #ports: BrokerManagerPorts;
  readonly #config: ConfigManager;
  #file: TableFile<SubscriptionGroupConfig>;
  #groups = new Map<string, SubscriptionGroupConfig>();
  /** By group and topic: which of PermName's bits the group lacks there. */
  #forbidden = new Map<string, Map<string, number>>();
  /** Created here, on a slave: its clients need them before its master has them. */
  readonly #local = new Set<string>();
  #options: BrokerOptions;
  #dataVersion: DataVersion;
  #isFullLogged = false;

  constructor(ports: BrokerManagerPorts, options: BrokerOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#dataVersion = {
      stateVersion: 0,
      timestamp: ports.clock.nowMs(),
      counter: 0,
    };
    this.#file = new TableFile(GROUPS_CODEC, ports.logger);
    this.#config = new ConfigManager(
      ports,
      GROUPS_CODEC.fileName,
      () => this.encode(),
    );
  }

  /** Reads the file and adds the system groups; never throws. */
  load(): void {
    this.#config.load((text) => this.#file.decode(text), (loaded) => {
      for (const [name, it] of loaded.table) this.#groups.set(name, it);
      this.#forbidden = this.#parseForbidden(
        loaded.otherKeys[FORBIDDEN_TABLE],
      );
      this.#dataVersion = loaded.dataVersion;
    });
    // A slave that has followed a master has exactly its groups.
    if (this.#isSlave && this.#groups.size > 0) return;
    this.#addSystemGroups();
    this.#local.clear();
  }

  reconfigure(options: BrokerOptions): void {
    this.#options = options;
    if (this.#isSlave) return;
    this.#local.clear();
    this.#addSystemGroups();
  }

  /**
   * As a slave: takes over a master's answer to 201, as a whole and only once
   * it is durable; the version with it. Rejects with `BodyError` or
   * `FileError`, and then nothing has changed.
   */
  async replaceAll(text: string): Promise<void> {
    const { file, loaded } = this.#file.replacedBy(text);
    const { dataVersion } = loaded;
    const table = new Map(loaded.table);
    const forbidden = this.#parseForbidden(loaded.otherKeys[FORBIDDEN_TABLE]);
    const keepLocal = () => {
      for (const name of this.#local) {
        const config = this.#groups.get(name);
        if (config === undefined || table.has(name)) continue;
        table.set(name, config);
      }
    };
    keepLocal();
    const fields = { [FORBIDDEN_TABLE]: forbiddenToJson(forbidden) };
    const next = file.encode(table, dataVersion, fields);
    await this.#config.replace(next, () => {
      keepLocal();
      for (const name of this.#local) {
        if (loaded.table.has(name)) this.#local.delete(name);
      }
      this.#file = file;
      this.#groups = table;
      this.#forbidden = forbidden;
      this.#dataVersion = dataVersion;
    });
  }

  /** Resolves when every change so far is durable; rejects with a FileError. */
  persist(): Promise<void> {
    return this.#config.persist();
  }

  /** Tries a failed write again. */
  tick(nowMs: number): void {
    this.#config.tick(nowMs);
  }

  get dataVersion(): DataVersion {
    return this.#dataVersion;
  }

  /** As a master: whatever is written from now on belongs to this epoch, or to a later one. */
  takeEpoch(epoch: number): void {
    if (this.#dataVersion.stateVersion >= epoch) return;
    const nowMs = this.#ports.clock.nowMs();
    this.#dataVersion = nextVersion(this.#dataVersion, nowMs, epoch);
    this.#config.changed();
  }

  allGroups(): ReadonlyMap<string, SubscriptionGroupConfig> {
    return this.#groups;
  }

  containsSubscriptionGroup(group: string): boolean {
    return this.#groups.has(group);
  }

  /** The group as it is, without creating it. */
  getSubscriptionGroupConfig(
    group: string,
  ): SubscriptionGroupConfig | undefined {
    return this.#groups.get(group);
  }

  /** The group, created when clients may create groups; undefined when not. */
  findSubscriptionGroupConfig(
    group: string,
  ): SubscriptionGroupConfig | undefined {
    const present = this.#groups.get(group);
    if (present !== undefined) return present;
    const mayCreate = this.#options.autoCreateSubscriptionGroup ||
      group.startsWith(SYSTEM_GROUP_PREFIX);
    if (!mayCreate || groupError(group) !== undefined || this.#isFull()) {
      return undefined;
    }
    const config = createSubscriptionGroupConfig(group);
    this.#ports.logger.info("group created", { group });
    this.updateSubscriptionGroupConfig(config);
    return config;
  }

  /** Creates or replaces a group. */
  updateSubscriptionGroupConfig(config: SubscriptionGroupConfig): void {
    this.#put(config);
    this.#changed();
  }

  /** Creates or replaces several with one new version. */
  updateSubscriptionGroupConfigs(
    configs: readonly SubscriptionGroupConfig[],
  ): void {
    if (configs.length === 0) return;
    for (const config of configs) this.#put(config);
    this.#changed();
  }

  /** False when there was no such group. */
  deleteSubscriptionGroupConfig(group: string): boolean {
    this.#forbidden.delete(group);
    if (!this.#groups.delete(group)) return false;
    this.#file.forget(group);
    this.#ports.logger.info("group deleted", { group });
    this.#changed();
    return true;
  }

  /** The bit set of what is forbidden to the group on the topic; 0 = nothing. */
  getForbidden(group: string, topic: string): number {
    return Math.max(0, this.#forbidden.get(group)?.get(topic) ?? 0);
  }

  /** Sets the whole bit set; 0 or less clears it. */
  updateForbidden(group: string, topic: string, forbidden: number): void {
    const topics = this.#forbidden.get(group) ?? new Map<string, number>();
    if (forbidden > 0) topics.set(topic, forbidden);
    else topics.delete(topic);
    if (topics.size === 0) this.#forbidden.delete(group);
    else this.#forbidden.set(group, topics);
    this.#changed();
  }

  /** The table as GET_ALL_SUBSCRIPTIONGROUP_CONFIG answers it. */
  forbiddenTable(): JsonObject {
    return forbiddenToJson(this.#forbidden);
  }

  /** The whole file, as Apache writes it. */
  encode(): string {
    return this.#file.encode(this.#groups, this.#dataVersion, {
      [FORBIDDEN_TABLE]: this.forbiddenTable(),
    });
  }

  #parseForbidden(value: unknown): Map<string, Map<string, number>> {
    const forbidden = new Map<string, Map<string, number>>();
    try {
      const table = objectOf(value, FORBIDDEN_TABLE);
      for (const [group, topics] of Object.entries(table)) {
        const bits = Object.entries(objectOf(topics, group)).map((
          [topic, it],
        ): [string, number] => [topic, integerOf(it, topic)]);
        if (bits.length > 0) forbidden.set(group, new Map(bits));
      }
    } catch (error) {
      this.#ports.logger.warn(
        `${FORBIDDEN_TABLE} of ${GROUPS_CODEC.fileName} was left out`,
        { error: String(error) },
      );
    }
    return forbidden;
  }

  get #isSlave(): boolean {
    return this.#options.brokerRole === "SLAVE";
  }

  #addSystemGroups(): void {
    const missing = SYSTEM_GROUPS.filter((it) => !this.#groups.has(it));
    for (const group of missing) {
      this.#put(createSubscriptionGroupConfig(group));
    }
    if (missing.length > 0) this.#changed();
  }

  #isFull(): boolean {
    const { subscriptionGroupMax } = this.#options;
    const isFull = this.#groups.size >= subscriptionGroupMax;
    if (isFull && !this.#isFullLogged) {
      this.#ports.logger.warn(
        "no more groups are created by clients: " +
          `subscriptionGroupMax is ${subscriptionGroupMax}`,
      );
    }
    this.#isFullLogged = isFull;
    return isFull;
  }

  #put(config: SubscriptionGroupConfig): void {
    this.#groups.set(config.groupName, config);
    this.#file.changed(config.groupName);
    if (this.#isSlave) this.#local.add(config.groupName);
  }

  #changed(): void {
    // A slave's version is its master's: a new one would stop it from following.
    if (!this.#isSlave) {
      this.#dataVersion = nextVersion(
        this.#dataVersion,
        this.#ports.clock.nowMs(),
      );
    }
    this.#config.changed();
  }
}

function forbiddenToJson(
  forbidden: ReadonlyMap<string, ReadonlyMap<string, number>>,
): JsonObject {
  return Object.fromEntries(
    [...forbidden].map((
      [group, topics],
    ) => [group, Object.fromEntries(topics)]),
  );
}
