/** The kill rounds of the integration suite, fifty of them. */
import { spawn } from "node:child_process";
import process from "node:process";
import type { Story } from "./story.ts";

const ROUNDS = 50;

/** kill -9 of a SYNC_MASTER under load, and of a single broker. */
export const killStory: Story = {
  name: "kill",
  promise: `kill -9 under load, ${ROUNDS} rounds: nothing acknowledged is lost`,
  isQuiet: false,
  run: async () => {
    const files = ["ha_kill", "kill"].map((it) =>
      `./test/integration/${it}_test.ts`
    );
    const child = spawn(
      "node_modules/.bin/bun",
      ["test", "--timeout", "7200000", ...files],
      {
        stdio: ["ignore", "pipe", "pipe"],
        env: { ...process.env, TEST_KILL_ROUNDS: String(ROUNDS) },
      },
    );
    let text = "";
    child.stdout.on("data", (bytes) => text += bytes);
    child.stderr.on("data", (bytes) => text += bytes);
    const code = await new Promise((resolve) => child.on("close", resolve));
    if (code !== 0) throw new Error(text);
    return `${ROUNDS} rounds, ${/\d+ pass/.exec(text)?.[0]}`;
  },
};
