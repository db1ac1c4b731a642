/** The executable obeys nothing that lies in the folder where it is started (scenario 162). */
import { assert, assertEquals } from "@std/assert";
import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { withTempDirectory } from "../support/temp_directory.ts";

/** Only the executable brings a runtime of its own along, which looks for such files. */
const isExecutable = (process.env.TEST_PROGRAM ?? "executable") ===
  "executable";

test("162: bunfig.toml and .env of the working folder are ignored", {
  skip: !isExecutable,
}, () =>
  withTempDirectory((folder) => {
    const seen = `${folder}/seen`;
    writeFileSync(
      `${folder}/hostile.ts`,
      `require("node:fs").writeFileSync(${JSON.stringify(seen)}, "");`,
    );
    writeFileSync(`${folder}/bunfig.toml`, 'preload = ["./hostile.ts"]\n');
    writeFileSync(`${folder}/.env`, "POCKETMQ_LISTEN_PORT=ten\n");
    writeFileSync(`${folder}/broker.conf`, "brokerName=quiet\n");
    const { status, stdout, stderr } = spawnSync(
      resolve("dist/pocketmq"),
      ["check-config", "broker.conf"],
      { cwd: folder, encoding: "utf8" },
    );
    assertEquals(status, 0, stderr);
    assert(stdout.includes("10911"), stdout);
    assert(!existsSync(seen), "the preload of bunfig.toml ran");
  }));
