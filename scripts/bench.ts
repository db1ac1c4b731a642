/**
 * Side-by-side measurements: `scripts/bench [send|consume|cold|replicate ...|quick]
 * [--seconds N] [--json FILE]`. Every case runs what is measured and, in the same
 * run and in turn with it, what it is compared with; ratios are ours by theirs.
 */
import { writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { parseArgs } from "node:util";
import { BenchRun, BUN } from "../test/bench/bench_run.ts";
import { helpOnRequest } from "./usage.ts";
import { replicateCase } from "../test/bench/replicate_case.ts";
import { coldCase, warmCases } from "../test/bench/standalone_cases.ts";

const CASES = ["send", "consume", "cold", "replicate"] as const;
type CaseName = (typeof CASES)[number];

helpOnRequest(
  `scripts/bench [${CASES.join("|")}|quick ...] [--seconds N] [--json FILE]`,
);
const { values, positionals } = commandLine();
const quick = positionals.includes("quick");
const wanted = casesOf(positionals.filter((it) => it !== "quick"));
const run = new BenchRun(quick, quick ? "2" : values.seconds);

try {
  const built = Bun.spawnSync([BUN, "scripts/build.ts"]);
  if (built.exitCode !== 0) throw new Error(String(built.stderr));
  if (wanted.includes("send") || wanted.includes("consume")) {
    await warmCases(run, wanted.includes("consume"));
  }
  if (wanted.includes("cold")) await coldCase(run);
  if (wanted.includes("replicate")) await replicateCase(run);
} finally {
  run.close();
}
for (const [name, ratio] of Object.entries(run.ratios)) {
  console.log(`${name} ${ratio.toFixed(2)}`);
}
if (values.json !== undefined) {
  const machine = {
    cpu: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    memoryBytes: totalmem(),
  };
  const { rows: cases, ratios } = run;
  writeFileSync(
    values.json,
    `${JSON.stringify({ machine, cases, ratios }, null, 2)}\n`,
  );
}

function commandLine() {
  try {
    const parsed = parseArgs({
      args: process.argv.slice(2),
      allowPositionals: true,
      options: {
        seconds: { type: "string", default: "5" },
        json: { type: "string" },
      },
    });
    if (!(Number(parsed.values.seconds) > 0)) {
      throw new Error(
        `--seconds ${parsed.values.seconds} is no positive number`,
      );
    }
    return parsed;
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(2);
  }
}

function casesOf(names: string[]): readonly CaseName[] {
  for (const name of names) {
    if (!CASES.includes(name as CaseName)) {
      console.error(`Unknown case ${name}: use ${CASES.join(", ")} or quick`);
      process.exit(2);
    }
  }
  if (names.length > 0) return names as CaseName[];
  return quick ? ["send", "consume"] : CASES;
}
