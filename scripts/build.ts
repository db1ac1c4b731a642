/** Builds `dist/pocketmq` for this machine, or with `--all` one file per platform and SHA256SUMS. */
import { createHash } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { onlyArguments } from "./usage.ts";

/** Bun's target names and ours. */
const TARGETS = [
  ["bun-linux-x64", "linux-x64"],
  ["bun-linux-x64-baseline", "linux-x64-baseline"],
  ["bun-linux-x64-musl", "linux-x64-musl"],
  ["bun-linux-arm64", "linux-arm64"],
  ["bun-linux-arm64-musl", "linux-arm64-musl"],
  ["bun-darwin-arm64", "darwin-arm64"],
  ["bun-windows-x64", "windows-x64.exe"],
] as const;

/**
 * Split, so that a command reads only its own part; the source maps are inside
 * the file too. Built aside and renamed: a running executable is not disturbed.
 */
function build(outfile: string, target: string | null): void {
  const folder = mkdtempSync("dist/build-");
  const built = `${folder}/${outfile.slice("dist/".length)}`;
  const child = Bun.spawnSync([
    "node_modules/.bin/bun",
    "build",
    "--compile",
    "--minify",
    "--sourcemap",
    "--bytecode",
    "--splitting",
    "--format=esm",
    "--no-compile-autoload-dotenv",
    "--no-compile-autoload-bunfig",
    ...(target === null ? [] : [`--target=${target}`]),
    "src/main.ts",
    "--outfile",
    built,
  ], { stdout: "pipe", stderr: "pipe" });
  if (child.exitCode === 0) renameSync(built, outfile);
  rmSync(folder, { recursive: true });
  if (child.exitCode !== 0) {
    console.error(`${child.stdout}${child.stderr}`);
    console.error(`Cannot build ${outfile}`);
    process.exit(1);
  }
  console.log(`built ${outfile}`);
}

onlyArguments("scripts/build [--all]", ["--all"]);
mkdirSync("dist", { recursive: true });
if (process.argv.includes("--all")) {
  const sums = TARGETS.map(([target, name]) => {
    const outfile = `dist/pocketmq-${name}`;
    build(outfile, target);
    const hash = createHash("sha256").update(readFileSync(outfile));
    return `${hash.digest("hex")}  pocketmq-${name}\n`;
  });
  writeFileSync("dist/SHA256SUMS", sums.join(""));
  console.log("wrote dist/SHA256SUMS");
} else {
  build("dist/pocketmq", null);
}
