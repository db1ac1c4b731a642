/** Our SQL92 evaluator, Bloom filter and consumerFilter.json against Apache's own classes. */
import { assert, assertEquals } from "@std/assert";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import process from "node:process";
import { test } from "node:test";
import { ConsumerFilterManager } from "../../src/broker/consumer_filter_manager.ts";
import { BloomFilter } from "../../src/filter/bloom_filter.ts";
import { FilterFactory } from "../../src/filter/filter_factory.ts";
import { buildSubscriptionData } from "../../src/model/filter_api.ts";
import { FakeClock, FakeLogger } from "../broker/fakes.ts";
import { MemoryFile } from "../broker/manager_rig.ts";
import {
  isOf5x,
  MESSAGES,
  sqlExpressions,
  tableExpressions,
} from "../filter/sql_cases.ts";
import { resultsOf, TABLE_PATH, tableText } from "../filter/sql_results.ts";
import { ApacheProcess, prepareApacheHome } from "./apache_process.ts";
import { APACHE_SERVER_VERSIONS } from "./versions.ts";

const EXPRESSIONS = sqlExpressions();
const BLOOM_TEXTS = [
  "g#T",
  "",
  "a",
  "group-with-a-longer-name#TopicTest",
  "\u00e9#\u4e2d",
];

/** Apache's ConsumerFilterManager is made without a broker: it then sizes its bits for 64 groups. */
const OPTIONS = {
  filterDataCleanTimeSpan: 86_400_000,
  maxErrorRateOfBloomFilter: 20,
  expectConsumerNumUseFilter: 64,
};

for (const version of APACHE_SERVER_VERSIONS) {
  test(`SQL92 is evaluated as Apache ${version} does, and its consumerFilter.json goes both ways`, async () => {
    assert(EXPRESSIONS.length > 500, `${EXPRESSIONS.length} expressions`);
    const clock = new FakeClock();
    clock.now = Date.now();
    const ours = managerOf(clock);
    ours.register("g", [buildSubscriptionData("T", "a > 'x", "SQL92", 1)]);
    ours.register("g", [
      buildSubscriptionData("T", "a > 1 AND b = '\u00e9'", "SQL92", 7),
      buildSubscriptionData("U", "a IS NULL", "SQL92", 8),
    ]);
    const { bits, json, results } = await apacheSays(version, ours.encode());
    assertEquals(
      bits,
      BLOOM_TEXTS.map((it) => bitsOf(new BloomFilter(20, 32), it)),
    );
    const theirs = managerOf(clock, json);
    for (const topic of ["T", "U"]) {
      const { deadTime, ...known } = theirs.get(topic, "g")!;
      assert(deadTime >= known.bornTime);
      assertEquals({ ...known, deadTime: 0 }, ours.get(topic, "g"));
    }
    // The table is what 5.5.0 says; unit tests hold ours against it.
    if (version.startsWith("5.")) checkTable(results);
    assertEquals(
      [...new Set(results.join(""))].sort().join(""),
      "FNPTX",
    );
    const differences = EXPRESSIONS.flatMap((expression, index) => {
      const expected = results[index]!;
      const actual = resultsOf(expression);
      return expected === actual ? [] : [{ expression, expected, actual }];
    });
    // 4.9 takes the operators that 5.x added for names of properties.
    const isKnown = version.startsWith("4.") ? isOf5x : () => false;
    assertEquals(differences.filter((it) => !isKnown(it.expression)), []);
    assertEquals(differences.length > 0, version.startsWith("4."));
  });
}

/** SQL_TABLE_REWRITE=1 writes the table anew. */
function checkTable(results: readonly string[]): void {
  const table = tableText(
    tableExpressions().map((it, index) => [it, results[index]!]),
  );
  if (process.env.SQL_TABLE_REWRITE === "1") writeFileSync(TABLE_PATH, table);
  assertEquals(readFileSync(TABLE_PATH, "utf8"), table);
}

function managerOf(clock: FakeClock, text?: string): ConsumerFilterManager {
  const manager = new ConsumerFilterManager(
    { clock, logger: new FakeLogger(), file: new MemoryFile(text) },
    OPTIONS,
    new FilterFactory(),
  );
  manager.load();
  return manager;
}

function bitsOf(filter: BloomFilter, text: string): string {
  const { bitNum, bitPos } = filter.generate(text);
  return [bitNum, ...bitPos].join(" ");
}

/** Bits of the texts, the file as Apache writes it, and the results by expression. */
async function apacheSays(version: string, file: string) {
  const folder = mkdtempSync(`${tmpdir()}/pocketmq-filter-`);
  try {
    prepareApacheHome(folder);
    const lines = [
      ...MESSAGES.map((it) => ["M", ...Object.entries(it).flat()]),
      ...BLOOM_TEXTS.map((it) => ["B", "20", "32", it]),
      ["C", file],
      ...EXPRESSIONS.map((it) => ["E", it]),
    ];
    const input = `${folder}/lines`;
    writeFileSync(
      input,
      lines.map((it) => it.map(escape).join("\t") + "\n").join(""),
    );
    const java = new ApacheProcess({
      version,
      mainClass: "pocketmq.FilterTable",
      args: [input],
      home: folder,
      heapMb: 128,
    });
    assertEquals(await java.exited, 0, java.output);
    const answers = java.stdout.split("\n")
      .filter((it) => it.startsWith("= ")).map((it) => it.slice(2));
    const [bits, rest] = [BLOOM_TEXTS.length, BLOOM_TEXTS.length + 1];
    assertEquals(answers.length, rest + EXPRESSIONS.length);
    return {
      bits: answers.slice(0, bits),
      json: answers[bits]!,
      results: answers.slice(rest),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function escape(text: string): string {
  return text.replace(
    /[^ -[\]-~]/g,
    (unit) => `\\${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
