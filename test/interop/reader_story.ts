/** A pair of ours that registers with several name servers, and consumer groups of stock clients. */
import { assert, assertEquals } from "@std/assert";
import { encodeProperties } from "../../src/model/message_properties.ts";
import { RawClient } from "../support/raw_client.ts";
import { ApacheNamesrv } from "./apache_namesrv.ts";
import { inSync } from "./ha_pair.ts";
import { type InteropSite, startNamesrv } from "./interop_site.ts";
import type { Member } from "./java.ts";
import { OurBroker, type OurBrokerOptions } from "./our_broker.ts";
import {
  consumeExactly,
  numbers,
  positionsAt,
  QUEUE_COUNT,
  type Reader,
  startMembers,
} from "./readers.ts";

const IN_FLIGHT = 100;
const BACKLOG = 4_000;
/** Of the backlog, consumed before the master is gone. */
const HELD_AFTER = 300;
/** A client keeps so many messages a queue: the rest of the backlog is still at the broker. */
const CACHE = 100;
/** Stock clients commit first 10 s after their start, then every 5 s. */
const COMMITTED_WITHIN_MS = 60_000;
export const TOPICS = ["Backlog", "Again"];

/** How the master differs from one that is reached directly. */
export interface MasterPath {
  options: Partial<OurBrokerOptions>;
  /** Where the master finds a name server. */
  namesrvOf(address: string): string;
}

const DIRECT: MasterPath = { options: {}, namesrvOf: (address) => address };

/** What happens to the pair and its readers. */
export class ReaderStory {
  readonly site: InteropSite;
  readonly namesrv: string;
  readonly readers: Reader[];
  readonly #path: MasterPath;
  master!: OurBroker;
  slave!: OurBroker;

  private constructor(
    site: InteropSite,
    readers: Reader[],
    path: MasterPath,
  ) {
    this.site = site;
    this.readers = readers;
    this.namesrv = readers[0]!.namesrv;
    this.#path = path;
  }

  /**
   * The old client at Apache's old name server, the new one at ours; with `isWhole` both at ours,
   * and each at Apache's of its version.
   */
  static async open(
    site: InteropSite,
    isWhole: boolean,
    pathOf: (namesrvs: string[]) => Promise<MasterPath> = () =>
      Promise.resolve(DIRECT),
  ): Promise<ReaderStory> {
    const ours = await startNamesrv(site);
    const apache = await Promise.all(
      (isWhole ? ["4.9.7", "5.5.0"] : ["4.9.7"]).map((version) =>
        site.own(ApacheNamesrv.start({
          version,
          folder: `${site.folder}/ns-${version}`,
        }))
      ),
    );
    const [old, young] = apache.map((it) => it.address);
    const readers = [
      { driver: "5.5.0", namesrv: ours },
      { driver: "4.9.8", namesrv: old! },
      { driver: "4.9.8", namesrv: ours },
      { driver: "5.5.0", namesrv: young! },
    ].slice(0, isWhole ? 4 : 2)
      .map((it, index) => ({ ...it, group: `readers-${index}` }));
    const namesrvs = [...new Set(readers.map((it) => it.namesrv))];
    const story = new ReaderStory(site, readers, await pathOf(namesrvs));
    await story.#startPair(namesrvs);
    return story;
  }

  async #startPair(namesrvs: string[]): Promise<void> {
    const { site } = this;
    this.master = await this.#master(namesrvs);
    const namesrv = namesrvs.join(";");
    this.slave = await site.own(OurBroker.start({
      folder: `${site.folder}/slave`,
      namesrv,
      role: "SLAVE",
    }));
    for (const topic of TOPICS) {
      for (const it of namesrvs) {
        await site.createTopic(it, topic, "--broker", this.master.address);
      }
    }
    await inSync(site, this.master, 1);
  }

  /** Starts a master that died on the port that it had. */
  async restartMaster(): Promise<void> {
    const namesrvs = [...new Set(this.readers.map((it) => it.namesrv))];
    this.master = await this.#master(namesrvs, this.master.listenPort);
    await inSync(this.site, this.master, 1);
  }

  #master(namesrvs: string[], listenPort?: number): Promise<OurBroker> {
    const { options, namesrvOf } = this.#path;
    return this.site.own(OurBroker.start({
      folder: `${this.site.folder}/master`,
      namesrv: namesrvs.map(namesrvOf).join(";"),
      role: "SYNC_MASTER",
      ...(listenPort === undefined ? {} : { listenPort }),
      ...options,
    }));
  }

  /** Every one of them must be SEND_OK; their keys are `key<number>`. */
  async send(topic: string, from: number, count: number): Promise<void> {
    const client = await RawClient.open(this.master.address);
    for (let sent = 0; sent < count; sent += IN_FLIGHT) {
      const some = numbers(from + sent, Math.min(IN_FLIGHT, count - sent));
      const answers = await Promise.all(some.map((it) =>
        client.send(
          topic,
          it % QUEUE_COUNT,
          new TextEncoder().encode(`body${it}`),
          encodeProperties(new Map([["KEYS", `key${it}`]])),
        )
      ));
      assertEquals(answers.map((it) => it.code), some.map(() => 0));
    }
    client.close();
  }

  /** The master goes from under consumers that have most of the backlog still before them. */
  async readersMove(
    loseMaster: () => Promise<unknown> | void,
    withinMs: number,
  ): Promise<void> {
    await this.send("Backlog", 0, BACKLOG);
    await this.send("Again", 10_000, 200);
    const members = await this.#holdingMembers();
    await loseMaster();
    const lostAt = Date.now();
    for (const it of members) {
      assert(it.deliveries.length < BACKLOG / 2);
      it.goOn();
    }
    const all = [...numbers(0, BACKLOG), ...numbers(10_000, 200)];
    await consumeExactly(this.site, this.readers, members, all, withinMs);
    for (const [index, it] of members.entries()) {
      const seconds = (it.deliveries.at(-1)!.atMs - lostAt) / 1000;
      const { driver, namesrv } = this.readers[index]!;
      console.log(`${driver} at ${namesrv}: whole backlog after ${seconds} s`);
    }
  }

  /** Members that have committed something, and wait with the rest. */
  async #holdingMembers(): Promise<Member[]> {
    const { site, readers, master } = this;
    const members = await startMembers(
      site,
      readers,
      TOPICS,
      `hold=${HELD_AFTER}`,
      `cache=${CACHE}`,
    );
    await site.eventually(
      () => members.every((it) => it.deliveries.length >= HELD_AFTER - CACHE),
      "some of the backlog",
      60_000,
    );
    const committed = async ({ group }: Reader) => {
      const at = await positionsAt(master.address, group, "Backlog");
      return at.committed.some((it) => it > 0);
    };
    await site.eventually(
      async () => (await Promise.all(readers.map(committed))).every((it) => it),
      "a commit of every group",
      COMMITTED_WITHIN_MS,
    );
    return members;
  }

  /** Members that start now receive these and nothing that was consumed before. */
  async onlyNew(expected: number[], withinMs: number): Promise<void> {
    const { site, readers } = this;
    const members = await startMembers(site, readers, TOPICS);
    await consumeExactly(site, readers, members, expected, withinMs);
  }
}
