/**
 * AclDocument: the text of one file of accounts, as requests change it. What people wrote beside
 * the changed places stays: comments, order, quotes. Apache's brokers lose comments.
 */
import {
  type Document,
  isMap,
  isSeq,
  parseDocument,
  Scalar,
  YAMLMap,
  YAMLSeq,
} from "yaml";
import { type DataVersion, nextVersion } from "../../model/data_version.ts";

/** An account as a request gives it; undefined: as it is. */
export interface AccountChange {
  readonly accessKey: string;
  readonly secretKey: string | undefined;
  readonly whiteRemoteAddress: string | undefined;
  readonly admin: boolean;
  readonly defaultTopicPerm: string | undefined;
  readonly defaultGroupPerm: string | undefined;
  readonly topicPerms: readonly string[] | undefined;
  readonly groupPerms: readonly string[] | undefined;
}

/** An account as the file has it. */
export type AccountText = Readonly<Record<string, unknown>>;

const FAILSAFE = { schema: "failsafe", prettyErrors: false } as const;

/** One text that `parsePlainAcl` can read, or an empty one. */
export class AclDocument {
  readonly #document: Document;

  constructor(text: string) {
    this.#document = parseDocument(text, FAILSAFE);
  }

  /** The accounts, in the order of the file. */
  accounts(): readonly AccountText[] {
    return listOf(this.#json()["accounts"]) as AccountText[];
  }

  globalWhiteAddrs(): readonly string[] {
    return listOf(this.#json()["globalWhiteRemoteAddresses"]).map(String);
  }

  /** What the file says of its changes; undefined: nothing. */
  dataVersion(): DataVersion | undefined {
    const [version] = listOf(this.#json()["dataVersion"]) as AccountText[];
    const [counter, timestamp] = [version?.["counter"], version?.["timestamp"]]
      .map(Number);
    return Number.isSafeInteger(counter) && Number.isSafeInteger(timestamp)
      ? { stateVersion: 0, counter: counter!, timestamp: timestamp! }
      : undefined;
  }

  /** Adds or changes an account; a changed one goes to the end, as in Apache's. */
  putAccount(change: AccountChange): void {
    const accounts = this.#seq("accounts");
    const at = indexOf(accounts, change.accessKey);
    const old = at < 0 ? undefined : accounts.items[at];
    const account = isMap(old) ? old : new YAMLMap();
    if (at >= 0) accounts.items.splice(at, 1);
    const put = (name: string, value: unknown) => {
      if (value !== undefined) account.set(name, value);
    };
    put("accessKey", quoted(change.accessKey));
    put("secretKey", change.secretKey && quoted(change.secretKey));
    put("whiteRemoteAddress", change.whiteRemoteAddress);
    put("admin", String(change.admin));
    put("defaultTopicPerm", change.defaultTopicPerm);
    put("defaultGroupPerm", change.defaultGroupPerm);
    put("topicPerms", this.#list(change.topicPerms));
    put("groupPerms", this.#list(change.groupPerms));
    accounts.add(account);
  }

  /** False: there is no such account. */
  deleteAccount(accessKey: string): boolean {
    const accounts = this.#seq("accounts");
    const at = indexOf(accounts, accessKey);
    if (at >= 0) accounts.items.splice(at, 1);
    return at >= 0;
  }

  putGlobalWhiteAddrs(addresses: readonly string[]): void {
    this.#document.set("globalWhiteRemoteAddresses", this.#list(addresses));
  }

  /** The text after one more change. */
  nextText(nowMs: number): string {
    const version = this.dataVersion() ??
      { stateVersion: 0, counter: 0, timestamp: 0 };
    const { counter, timestamp } = nextVersion(version, nowMs);
    this.#document.set(
      "dataVersion",
      this.#document.createNode([{
        counter: String(counter),
        timestamp: String(timestamp),
      }]),
    );
    return this.#document.toString({ lineWidth: 0 });
  }

  #json(): Readonly<Record<string, unknown>> {
    return this.#document.toJS() as Record<string, unknown> ?? {};
  }

  #list(texts: readonly string[] | undefined): unknown {
    return texts && this.#document.createNode(texts);
  }

  /** The list under a key, made where there is none. */
  #seq(key: string): YAMLSeq {
    const known = this.#document.get(key);
    if (isSeq(known)) return known;
    const made = new YAMLSeq();
    this.#document.set(key, made);
    return made;
  }
}

/** A key 0123456 is a text, whoever reads the file. */
function quoted(text: string): Scalar {
  const scalar = new Scalar(text);
  scalar.type = Scalar.QUOTE_DOUBLE;
  return scalar;
}

function indexOf(accounts: YAMLSeq, accessKey: string): number {
  return accounts.items.findIndex((it) =>
    isMap(it) && String(it.get("accessKey")).trim() === accessKey
  );
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
