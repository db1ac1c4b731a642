/** Stock clients and brokers over TLS. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { PocketMQProcess, runPocketMQ } from "../support/pocketmq_process.ts";
import { type Site, withSite } from "../support/site.ts";
import { withTempDirectory } from "../support/temp_directory.ts";
import { settingsOf, TestAuthority } from "../support/tls_site.ts";
import { ApacheBroker } from "./apache_broker.ts";
import { withInteropSite } from "./interop_site.ts";
import { runDriver } from "./java.ts";
import { APACHE_SERVER_VERSIONS, ROCKETMQ_VERSIONS } from "./versions.ts";

const REGISTERED_MS = 60_000;

/** 200 messages to two consumers, over TLS. */
async function broadcasts(
  version: string,
  site: Site,
  jvmFlags: readonly string[],
): Promise<void> {
  const args = [
    "broadcast",
    `namesrv=${site.namesrv}`,
    "topic=BroadcastTopic",
  ];
  const done = await runDriver(version, args, site.folder, () => {}, [
    "-Dtls.enable=true",
    ...jvmFlags,
  ]);
  assertEquals(done.code, 0, done.output);
  assertEquals(done.result.deliveries, 400);
}

for (const version of ROCKETMQ_VERSIONS) {
  test(`Java ${version} needs nothing but tls.enable`, () =>
    withSite(async (site) => {
      await site.createTopic("BroadcastTopic");
      await broadcasts(version, site, []);
    }));

  test(`Java ${version} shows its certificate and verifies ours, where nobody else comes in`, () =>
    withTempDirectory(async (folder) => {
      const authority = new TestAuthority(folder);
      for (const it of ["server", "client"]) authority.write(it);
      const file = `${folder}/tls.properties`;
      writeFileSync(file, authority.client("client").join("\n"));
      await withSite(async (site) => {
        const made = await site.run(
          ...["topic", "create", "BroadcastTopic", "--tls-config", file],
        );
        assertEquals(made.code, 0, made.stderr);
        await broadcasts(version, site, [
          "-Dtls.test.mode.enable=false",
          ...authority.client("client").map((it) => `-D${it}`),
        ]);
      }, settingsOf(authority.enforcing("server")));
    }));
}

test("Apache's brokers register at an encrypted name server of ours, and answer our tools", () =>
  withInteropSite(async (site) => {
    const server = await site.own(PocketMQProcess.start([
      ...["namesrv", "--namesrv-port", "0", "--bind", "127.0.0.1"],
      ...settingsOf([
        "tls.server.mode=enforcing",
        `kvConfigPath=${site.folder}/kvConfig.json`,
      ]),
    ]));
    const namesrv = server.address("namesrv");
    const brokers = await Promise.all(
      APACHE_SERVER_VERSIONS.map((version) =>
        site.own(ApacheBroker.start({
          version,
          folder: `${site.folder}/${version}`,
          namesrv,
          brokerName: `broker-${version}`,
          javaFlags: [
            ...["-Xms64m", "-Xmx256m", "-XX:+UseSerialGC"],
            ...["-XX:TieredStopAtLevel=1", "-Dtls.enable=true"],
          ],
        }))
      ),
    );
    const list = () => runPocketMQ(["cluster", "list", "-n", namesrv, "--tls"]);
    for (const { address } of brokers) {
      await site.eventually(
        async () => (await list()).stdout.includes(address),
        `${address} over TLS`,
        REGISTERED_MS,
      );
    }
    const plain = await runPocketMQ(["cluster", "list", "-n", namesrv]);
    assertEquals(plain.code, 1, plain.stdout);
    for (const { address } of brokers) {
      const status = await runPocketMQ([
        ...["cluster", "status", address, "-n", namesrv, "--tls"],
      ]);
      assertEquals(status.code, 0, status.stderr);
      assertStringIncludes(status.stdout, "brokerVersionDesc");
    }
  }));
