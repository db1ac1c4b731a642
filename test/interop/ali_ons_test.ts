/** The npm client `ali-ons` against the program under test. */
import { assertEquals } from "@std/assert";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { withSite } from "../support/site.ts";

test("ali-ons sends and receives", async () => {
  await withSite(async (site) => {
    await site.createTopic("AliTopic");
    const driver = spawnSync("node", [
      "test/interop/ali_ons_driver.cjs",
      site.namesrv,
      "AliTopic",
      "50",
    ], { encoding: "utf8" });
    const line = /^RESULT (\{.*\})$/m.exec(driver.stdout)?.[1] ?? "{}";
    assertEquals(
      JSON.parse(line),
      { sent: 50, received: 50, right: 50 },
      driver.stdout + driver.stderr,
    );
  });
});
