/** The stock Go client against the program under test. */
import { assert, assertEquals } from "@std/assert";
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import process from "node:process";
import { test } from "node:test";
import { type Site, withSite } from "../support/site.ts";

const DRIVER = new URL("target/go/driver", import.meta.url).pathname;

/** What each story of the driver must have seen. */
const STORIES: Record<string, Record<string, number>> = {
  deliver: { sent: 300, right: 400, deliveries: 400 },
  share: {
    firstShared: 4,
    secondShared: 4,
    firstAlone: 0,
    secondAlone: 8,
    missing: 0,
  },
  orderly: { received: 400, outOfOrder: 0 },
  broadcast: { first: 100, second: 100, deliveries: 200 },
  pull: { byOffset: 200, firstOffsets: 0, polled: 200, afterCommit: 50 },
};

/** Outside CI Go is nobody's duty; there its lack is a failure like that of any other tool. */
const isGoMissing = !process.env.CI && !existsSync(DRIVER) &&
  spawnSync("go", ["version"]).error !== undefined;

const NAME =
  "the Go client sends in four ways, shares and takes over queues, reads in order, broadcasts and pulls";

test(
  isGoMissing ? `Not run, since Go is not installed: ${NAME}` : NAME,
  { skip: isGoMissing },
  async () => {
    assert(existsSync(DRIVER), "scripts/test interop builds the Go driver");
    await withSite(async (site) => {
      const stories = Object.keys(STORIES);
      for (const it of stories) {
        // The first one makes its topic itself, with the client's own tool.
        if (it !== "deliver") await site.createTopic(topicOf(it));
      }
      const seen = await Promise.all(stories.map((it) => run(site, it)));
      for (const [index, story] of stories.entries()) {
        const { output, result } = seen[index]!;
        assertEquals(result, STORIES[story], `${story}: ${output}`);
      }
    });
  },
);

function topicOf(story: string): string {
  return `Go-${story}`;
}

/** What one story saw, and all that it printed. */
function run(
  site: Site,
  story: string,
): Promise<{ result: unknown; output: string }> {
  const driver = spawn(DRIVER, [
    story,
    site.namesrv,
    site.broker,
    topicOf(story),
  ], {
    env: {
      ...process.env,
      // Positions of broadcasting consumers, and the client's other files.
      HOME: site.folder,
      "rocketmq.client.localOffsetStoreDir": `${site.folder}/go-${story}`,
    },
  });
  let output = "";
  driver.stdout.on("data", (bytes) => output += bytes);
  driver.stderr.on("data", (bytes) => output += bytes);
  return new Promise((resolve) => {
    driver.on("close", () => {
      const line = /^RESULT (\{.*\})$/m.exec(output)?.[1];
      resolve({ result: line && JSON.parse(line), output });
    });
  });
}
