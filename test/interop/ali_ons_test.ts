/** The npm client `ali-ons` against the program under test. */
import { assertEquals } from "@std/assert";
import { spawn } from "node:child_process";
import { test } from "node:test";
import { type Site, withSite } from "../support/site.ts";

/** What one story of the driver saw, and all that it printed. */
function run(
  site: Site,
  story: string,
  topic: string,
  count: number,
): Promise<{ result: unknown; output: string }> {
  const driver = spawn("node", [
    "test/interop/ali_ons_driver.cjs",
    story,
    site.namesrv,
    topic,
    String(count),
  ]);
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

test("ali-ons sends and receives, and two of its consumers share the queues until one leaves", async () => {
  await withSite(async (site) => {
    await site.createTopic("AliTopic");
    await site.createTopic("AliShare");
    const [delivered, shared] = await Promise.all([
      run(site, "deliver", "AliTopic", 50),
      run(site, "share", "AliShare", 8),
    ]);
    assertEquals(
      delivered.result,
      { sent: 50, received: 50, right: 50 },
      delivered.output,
    );
    assertEquals(
      shared.result,
      { together: [4, 4], alone: [0, 8], missing: 0 },
      shared.output,
    );
  });
});
