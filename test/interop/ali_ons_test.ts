/** The npm client `ali-ons` against the program under test. */
import { assertEquals } from "@std/assert";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { type Site, withSite } from "../support/site.ts";
import { withTempDirectory } from "../support/temp_directory.ts";

/** What one story of the driver saw, and all that it printed. */
function run(
  site: Site,
  story: string,
  topic: string,
  count: number,
  account: readonly string[] = [],
): Promise<{ result: unknown; output: string }> {
  const driver = spawn("node", [
    "test/interop/ali_ons_driver.cjs",
    story,
    site.namesrv,
    topic,
    String(count),
    ...account,
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

test("ali-ons signs what access control asks for", async () => {
  await withTempDirectory(async (folder) => {
    const account = ["npm-client", "npm-secret"] as const;
    writeFileSync(
      `${folder}/acl.yml`,
      `accounts:\n  - accessKey: ${account[0]}\n    secretKey: ${
        account[1]
      }\n` +
        "    topicPerms: [AliTopic=PUB|SUB]\n    groupPerms: [ali-ons-consumers=SUB]\n" +
        "  - accessKey: operator\n    secretKey: its-secret\n    admin: true\n",
    );
    writeFileSync(
      `${folder}/tools.yml`,
      "accessKey: operator\nsecretKey: its-secret\n",
    );
    await withSite(async (site) => {
      const operator = ["--credentials", `${folder}/tools.yml`];
      const made = await site.run("topic", "create", "AliTopic", ...operator);
      assertEquals(made.code, 0, made.stderr);
      const done = await run(site, "deliver", "AliTopic", 20, account);
      assertEquals(
        done.result,
        { sent: 20, received: 20, right: 20 },
        done.output,
      );
    }, ["--set", "aclEnable=true", "--set", `plainAclFile=${folder}/acl.yml`]);
  });
});
