/**
 * Bodies of ours are read by the stock classes of both versions, and what these write of them is
 * read by ours as the same again. TEST_SEED=N repeats a run.
 */
import { assertEquals } from "@std/assert";
import { readFile, writeFile } from "node:fs/promises";
import process from "node:process";
import { test } from "node:test";
import { withTempDirectory } from "../support/temp_directory.ts";
import { bodyKinds, type BodySample } from "./codec_bodies.ts";
import { runDriver } from "./java.ts";
import { ROCKETMQ_VERSIONS } from "./versions.ts";

const SAMPLES_PER_KIND = 150;
const seed = Number(
  process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31),
);
console.log(`bodies: TEST_SEED=${seed}`);

for (const version of ROCKETMQ_VERSIONS) {
  test(`Java ${version} reads what we write of every body, and we read what it writes`, () =>
    withTempDirectory(async (folder) => {
      const samples: (readonly [string, BodySample])[] = [];
      for (const { className, sample } of bodyKinds(version.startsWith("4."))) {
        for (const it of sample(SAMPLES_PER_KIND, seed)) {
          samples.push([className, it]);
        }
      }
      const lines = samples.map(([className, { bytes }]) =>
        `${className} ${Buffer.from(bytes).toString("base64")}\n`
      );
      await writeFile(`${folder}/bodies`, lines.join(""));
      const done = await runDriver(version, [
        "codec",
        `bodies=${folder}/bodies`,
        `answers=${folder}/answers`,
      ], folder);
      assertEquals(done.code, 0, done.output);
      assertEquals(done.result, { bodies: samples.length, faults: 0 });
      const answers = (await readFile(`${folder}/answers`, "latin1")).split(
        "\n",
      );
      samples.forEach(([className, sample], index) => {
        const answer = Buffer.from(answers[index]!, "base64");
        const decoded = sample.decode(new Uint8Array(answer));
        assertEquals(
          comparable(decoded),
          comparable(sample.model),
          `${className} of Java: ${answer.toString()}`,
        );
      });
    }));
}

/** Java keeps most lists as sets and maps by hash: their order says nothing. */
function comparable(value: unknown): unknown {
  if (value instanceof Map) return comparable([...value]);
  if (Array.isArray(value)) {
    return value.map(comparable).sort((a, b) =>
      JSON.stringify(a) < JSON.stringify(b) ? -1 : 1
    );
  }
  if (typeof value !== "object" || value === null) return value;
  return comparable(Object.entries(value));
}
