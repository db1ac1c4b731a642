import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { DEFAULT_BROKER_OPTIONS } from "../../src/broker/broker_options.ts";
import { ConsumerFilterManager } from "../../src/broker/consumer_filter_manager.ts";
import { FilterFactory } from "../../src/filter/filter_factory.ts";
import { buildSubscriptionData } from "../../src/model/filter_api.ts";
import type { LogFields } from "../../src/io/logger.ts";
import { FakeClock, FakeLogger } from "./fakes.ts";
import { MemoryFile } from "./manager_rig.ts";

class Lines extends FakeLogger {
  text = "";
  override warn(message: string, fields: LogFields = {}): void {
    this.text += `${message} ${JSON.stringify(fields)}\n`;
  }
}

class Site {
  readonly clock = new FakeClock();
  readonly logger = new Lines();
  readonly file: MemoryFile;
  readonly manager: ConsumerFilterManager;

  constructor(text?: string) {
    this.file = new MemoryFile(text);
    this.manager = this.#open();
  }

  restarted(): ConsumerFilterManager {
    return this.#open();
  }

  register(expression: string, version: number, topics = ["T"]): void {
    this.manager.register("g", [
      ...topics.map((it) =>
        buildSubscriptionData(it, expression, "SQL92", version)
      ),
      buildSubscriptionData("%RETRY%g", "*", "TAG", version),
    ]);
  }

  /** Expression, version and time of death. */
  get(topic = "T", manager = this.manager): unknown[] | undefined {
    const data = manager.get(topic, "g");
    return data && [data.expression, data.clientVersion, data.deadTime];
  }

  #open(): ConsumerFilterManager {
    const { clock, logger, file } = this;
    const manager = new ConsumerFilterManager(
      { clock, logger, file },
      DEFAULT_BROKER_OPTIONS,
      new FilterFactory(),
    );
    manager.load();
    return manager;
  }
}

test("ConsumerFilterManager.register() takes newer versions only, as Apache's", () => {
  const site = new Site();
  site.register("a = 1", 5);
  assertEquals(site.get(), ["a = 1", 5, 0]);
  assertEquals(site.get("%RETRY%g"), undefined);
  site.register("a = 2", 5);
  site.register("a = 3", 4);
  assertEquals(site.get(), ["a = 1", 5, 0]);
  site.register("a = 1", 6);
  assertEquals(site.get(), ["a = 1", 6, 0]);
  site.register("a = 2", 7);
  assertEquals(site.get(), ["a = 2", 7, 0]);
  site.register("a =", 7);
  assertEquals(site.get(), ["a = 2", 7, 0]);
  site.register("a =", 8);
  assertEquals(site.get(), undefined);
});

test("ConsumerFilterManager keeps what died until it is cleaned, and revives it", () => {
  const site = new Site();
  site.register("a = 1", 5, ["T", "U"]);
  site.clock.now += 1_000;
  site.register("a = 1", 5, ["U"]);
  const diedMs = site.clock.now;
  assertEquals(site.get("T"), ["a = 1", 5, diedMs]);
  assertEquals(site.get("U"), ["a = 1", 5, 0]);
  site.register("a = 1", 5, ["T", "U"]);
  assertEquals(site.get("T"), ["a = 1", 5, 0]);
  site.manager.unRegister("g");
  const day = DEFAULT_BROKER_OPTIONS.filterDataCleanTimeSpan;
  site.clock.now = diedMs + day - 1;
  site.manager.tick(site.clock.monotonicMs());
  assertEquals(site.get("U"), ["a = 1", 5, diedMs]);
  site.clock.now += 10_000;
  site.manager.tick(site.clock.monotonicMs());
  assertEquals([site.get("T"), site.get("U")], [undefined, undefined]);
});

test("ConsumerFilterManager writes Apache's file every 10 s and reads it back", async () => {
  const site = new Site();
  site.register("a = 'x'", 5);
  site.manager.tick(site.clock.monotonicMs() + 9_999);
  assertEquals(site.file.writes.length, 0);
  site.manager.tick(site.clock.monotonicMs() + 10_000);
  await site.manager.persist();
  assertEquals(site.file.writes, [[
    "{",
    '\t"filterDataByTopic":{',
    '\t\t"T":{',
    '\t\t\t"groupFilterData":{',
    '\t\t\t\t"g":{',
    '\t\t\t\t\t"bloomFilterData":{',
    '\t\t\t\t\t\t"bitNum":112,',
    '\t\t\t\t\t\t"bitPos":[',
    ...BITS.map((it) => `\t\t\t\t\t\t\t${it}`),
    "\t\t\t\t\t\t]",
    "\t\t\t\t\t},",
    `\t\t\t\t\t"bornTime":${site.clock.now},`,
    '\t\t\t\t\t"clientVersion":5,',
    '\t\t\t\t\t"consumerGroup":"g",',
    '\t\t\t\t\t"dead":false,',
    '\t\t\t\t\t"deadTime":0,',
    `\t\t\t\t\t"expression":"a = 'x'",`,
    '\t\t\t\t\t"expressionType":"SQL92",',
    '\t\t\t\t\t"topic":"T"',
    "\t\t\t\t}",
    "\t\t\t},",
    '\t\t\t"topic":"T"',
    "\t\t}",
    "\t}",
    "}",
  ].join("\n")]);
  // Its members count as gone for 30 s, but never before it was born.
  site.clock.now += 50_000;
  const again = site.restarted();
  assertEquals(site.get("T", again), ["a = 'x'", 5, site.clock.now - 30_000]);
  again.register("g", [buildSubscriptionData("T", "a = 'x'", "SQL92", 5)]);
  assertEquals(site.get("T", again), ["a = 'x'", 5, 0]);
  site.clock.now -= 40_000;
  assertEquals(site.restarted().get("T", "g")!.deadTime, 1_790_000_000_000);
});

/** Of `g#T` among 112, as Apache's BloomFilter has them. */
const BITS = ["90,", "68,", "28"];

test("ConsumerFilterManager leaves out what does not compile, and survives junk", () => {
  const entry = (expression: string, changes: object = {}) => ({
    consumerGroup: "g",
    topic: "T",
    expression,
    expressionType: "SQL92",
    bornTime: 5,
    clientVersion: 5,
    ...changes,
  });
  const fileOf = (data: object) =>
    JSON.stringify({
      filterDataByTopic: { T: { groupFilterData: { g: data }, topic: "T" } },
    });
  assert(new Site(fileOf(entry("a = 1"))).get());
  const bad = new Site(fileOf(entry("a =")));
  assertEquals(bad.get(), undefined);
  assert(bad.logger.text.includes("at position 4"));
  for (const text of ["", "[]", "{}", "null", '{"filterDataByTopic":5}']) {
    assertEquals(new Site(text).get(), undefined);
  }
  const odd = entry("a = 1", { bornTime: "x" });
  assertEquals(new Site(fileOf(odd)).get(), undefined);
});

test("ConsumerFilterManager has limits: the dead make room, the living stay", () => {
  const site = new Site();
  const long = `a = '${"x".repeat(32_000)}'`;
  const groupOf = (at: number, expression: string) =>
    site.manager.register(`g${at}`, [
      buildSubscriptionData("T", expression, "SQL92", 1),
    ]);
  for (let at = 0; at < 70; at++) groupOf(at, long);
  const count = () =>
    Array.from({ length: 70 }, (_, at) => site.manager.get("T", `g${at}`))
      .filter((it) => it !== undefined).length;
  assertEquals(count(), 65);
  assert(
    site.logger.text.includes("at most 10000 of 2097152"),
  );
  site.manager.unRegister("g3");
  groupOf(69, long);
  assertEquals(site.manager.get("T", "g3"), undefined);
  assert(site.manager.get("T", "g69"));
  assertEquals(count(), 65);
});

test("ConsumerFilterManager warns of an end that is ignored, once in a while", () => {
  const site = new Site();
  for (let version = 1; version < 9; version++) {
    site.register(`a = ${version} LIKE 'x'`, version);
  }
  const lines = site.logger.text;
  assertEquals(lines.split("the end of a filter is ignored").length, 2);
  assert(lines.includes("LIKE 'x'"));
  assertEquals(site.get(), ["a = 8 LIKE 'x'", 8, 0]);
});
