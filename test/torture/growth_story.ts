/**
 * Ten thousand topics beside a thousand: what is measured may grow as the broker does, or not at
 * all. GROWTH_TOPICS sets the size.
 */
import { assert, assertLessOrEqual } from "@std/assert";
import process from "node:process";
import { withTempDirectory } from "../support/temp_directory.ts";
import {
  type GrowthFigures,
  growthFigures,
  type GrowthSize,
  QUEUES,
} from "./growth_site.ts";
import type { Story } from "./story.ts";

const TOPICS = Number(process.env.GROWTH_TOPICS ?? 10_000);
const TENFOLD = 10;
/** Ten times as much may cost twice ten times: caches are smaller than that. */
const LINEAR_MAX = 2 * TENFOLD;
/** What a message costs does not grow. */
const CONSTANT_MAX = 4;
const STORE_FILES_MAX = 600;
const STOP_MS_MAX = 10_000;
const MIB = 1024 * 1024;

const LINEAR: readonly (keyof GrowthFigures)[] = [
  "createMs",
  "writeMs",
  "killedStartMs",
  "cleanStartMs",
  "residentBytes",
  "topicsMs",
  "groupsMs",
  "metricsMs",
];
const CONSTANT: readonly (keyof GrowthFigures)[] = ["sendP50", "pullP50"];

/** Memory, start, stop, latency at both sizes. */
export const growthStory: Story = {
  name: "growth",
  promise: `${TOPICS} topics of ${QUEUES} queues with ${TOPICS / TENFOLD} ` +
    "groups, held pulls and connections: nothing grows faster than they do",
  isQuiet: false,
  run: async () => {
    const small = await figuresOf(TOPICS / TENFOLD);
    const large = await figuresOf(TOPICS);
    const figures = table(small, large);
    for (const it of LINEAR) {
      assertLessOrEqual(large[it] / small[it], LINEAR_MAX, it + figures);
    }
    for (const it of CONSTANT) {
      assertLessOrEqual(large[it] / small[it], CONSTANT_MAX, it + figures);
    }
    assert(large.storeFiles <= STORE_FILES_MAX, `storeFiles${figures}`);
    assert(large.stopMs <= STOP_MS_MAX, `stopMs${figures}`);
    return figures;
  },
};

function figuresOf(topics: number): Promise<GrowthFigures> {
  const size: GrowthSize = {
    topics,
    groups: Math.ceil(topics / TENFOLD),
    connections: Math.ceil(topics / TENFOLD),
  };
  return withTempDirectory((folder) => growthFigures(folder, size));
}

/** One line a figure: at a tenth, whole, and the ratio. */
function table(small: GrowthFigures, large: GrowthFigures): string {
  const lines = (Object.keys(small) as (keyof GrowthFigures)[]).map((it) => {
    const [a, b] = [small[it], large[it]];
    const ratio = a > 0 ? (b / a).toFixed(2) : "-";
    return `\n  ${it.padEnd(18)} ${shown(it, a)} ${shown(it, b)} ${
      ratio.padStart(8)
    }`;
  });
  return `\n  ${"figure".padEnd(18)} ${String(TOPICS / TENFOLD).padStart(10)} ${
    String(TOPICS).padStart(10)
  }    ratio${lines.join("")}`;
}

function shown(name: keyof GrowthFigures, value: number): string {
  const text = name === "residentBytes"
    ? `${(value / MIB).toFixed(1)} MiB`
    : name === "storeFiles" || name === "sockets"
    ? String(value)
    : `${value.toFixed(value < 10 ? 3 : 0)} ms`;
  return text.padStart(10);
}
