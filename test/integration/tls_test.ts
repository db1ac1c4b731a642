/** TLS and PROXY headers on every port of the program, and certificates that change under it. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { test } from "node:test";
import {
  haOf,
  startBrokerProcess,
  withProcesses,
} from "../support/broker_process.ts";
import { eventually } from "../support/eventually.ts";
import { PocketMQProcess, runPocketMQ } from "../support/pocketmq_process.ts";
import { RawClient } from "../support/raw_client.ts";
import { withSite } from "../support/site.ts";
import { withTempDirectory } from "../support/temp_directory.ts";
import {
  dial,
  dialTls,
  settingsOf,
  TestAuthority,
} from "../support/tls_site.ts";

const NO_PERMISSION = 16;
const PORTS = ["namesrv", "broker", "vip"];
const LONG = { timeoutMs: 20_000 };

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** The name in the certificate that a server shows. */
async function shownName(
  address: string,
  identity: Parameters<typeof dialTls>[1],
): Promise<string> {
  const socket = await dialTls(address, identity);
  const { subject } = socket.getPeerCertificate();
  socket.destroy();
  return String(subject.CN);
}

function ended(socket: Socket): Promise<void> {
  socket.on("error", () => {});
  socket.resume();
  return new Promise((resolve) => socket.once("close", () => resolve()));
}

test("permissive: plain text and TLS on the same ports, behind a load balancer too", () =>
  withTempDirectory(async (folder) => {
    const acl = `${folder}/plain_acl.yml`;
    writeFileSync(
      acl,
      "globalWhiteRemoteAddresses: [10.9.8.7]\n" +
        "accounts: [{accessKey: admin-key, secretKey: admin-secret, admin: true}]\n",
    );
    const proxied = bytesOf("PROXY TCP4 10.9.8.7 10.0.0.1 4711 1\r\n");
    await withSite(
      async (site) => {
        for (const port of PORTS) {
          const address = site.server.address(port);
          assertEquals(await shownName(address, {}), "localhost");
          const plain = await RawClient.open(address);
          // A code that nobody knows is answered by every server.
          assert([3, NO_PERMISSION].includes((await plain.invoke(9999)).code));
          plain.close();
        }
        const kinds: [string, () => Promise<Socket>, number][] = [
          ["plain", () => dial(site.broker), NO_PERMISSION],
          ["TLS", () => dialTls(site.broker), NO_PERMISSION],
          ["PROXY", () => dial(site.broker, proxied), 0],
          ["PROXY, TLS", () => dialTls(site.broker, { first: proxied }), 0],
        ];
        for (const [kind, open, code] of kinds) {
          const client = RawClient.over(await open());
          const sent = await client.send("T", 0, new Uint8Array(200_000));
          assertEquals(sent.code, code, `${kind}: ${sent.remark}`);
          client.close();
        }
        const broken = await dial(
          site.broker,
          bytesOf("PROXY TCP9 a b 1 2\r\n"),
        );
        await ended(broken);
        await eventually(() =>
          site.server.stderr.includes("its PROXY header is broken")
        );
      },
      settingsOf([
        "proxyProtocolPeers=127.0.0.0/8",
        "aclEnable=true",
        `plainAclFile=${acl}`,
        "accessKey=admin-key",
        "secretKey=admin-secret",
      ]),
    );
  }));

test("enforcing: who has no certificate stays out, and a broken new one changes nothing", () =>
  withTempDirectory(async (folder) => {
    const authority = new TestAuthority(folder);
    authority.write("server");
    authority.write("client");
    const client = { identity: authority.sign("client") };
    const file = `${folder}/tls.properties`;
    writeFileSync(file, authority.client("client").join("\n"));
    await withSite(
      async (site) => {
        const runs = await Promise.all(
          [[], ["--tls"], ["--tls-config", file]].map((flags) =>
            site.run("topic", "create", "T", ...flags)
          ),
        );
        assertEquals(runs.map(({ code }) => code), [1, 1, 0], runs[2]!.stderr);
        await Promise.all(PORTS.map(async (port) => {
          const address = site.server.address(port);
          await ended(await dial(address, new Uint8Array(9)));
          // A slow hello: its time is up.
          await ended(await dial(address, Uint8Array.of(0x16, 3)));
        }));
        const overHttp = await fetch(`${site.admin}/admin/topics/Http`, {
          method: "PUT",
          headers: { "content-type": "application/json" },
          body: "{}",
        });
        assert(overHttp.ok, await overHttp.text());
        const lines = site.server.stderr.split("\n")
          .filter((it) => it.includes("tls.server.mode=enforcing"));
        assert(lines.length <= 4, lines.join("\n")); // One in a while of each server.
        await renewed(authority, site.broker, client, () => site.server.stderr);
      },
      settingsOf([...authority.enforcing("server"), "firstFrameTimeoutMs=500"]),
    );
  }));

/** A key that does not fit is refused, and a new pair taken; connections live on. */
async function renewed(
  authority: TestAuthority,
  address: string,
  client: NonNullable<Parameters<typeof dialTls>[1]>,
  log: () => string,
): Promise<void> {
  const old = RawClient.over(await dialTls(address, client));
  const next = authority.sign("renewed");
  writeFileSync(`${authority.folder}/server.key`, next.key);
  await eventually(() => log().includes("Cannot use tls.server.keyPath"), LONG);
  assertStringIncludes(log(), "it does not belong to the certificate");
  assertEquals(await shownName(address, client), "server");
  authority.write("server", next);
  await eventually(
    async () => await shownName(address, client) === "renewed",
    LONG,
  );
  assertEquals((await old.send("T", 0, bytesOf("old"))).code, 0);
  old.close();
  assertEquals(log().split("Cannot use tls.server.keyPath=").length, 2); // Said once.
}

test("a pair talks TLS only, and says what it cannot use before it starts", () =>
  withTempDirectory(async (folder) => {
    const authority = new TestAuthority(folder);
    for (const it of ["namesrv", "master", "slave"]) authority.write(it);
    await withProcesses(async (keep) => {
      const namesrv = await keep(PocketMQProcess.start([
        ...["namesrv", "--namesrv-port", "0", "--bind", "127.0.0.1"],
        ...settingsOf([
          `kvConfigPath=${folder}/kvConfig.json`,
          ...authority.enforcing("namesrv"),
        ]),
      ]));
      const names = `namesrvAddr=${namesrv.address("namesrv")}`;
      const start = (role: string, id: number, name: string) =>
        startBrokerProcess(
          `${folder}/${name}-store`,
          `brokerRole=${role}`,
          `brokerId=${id}`,
          names,
          ...authority.enforcing(name),
        );
      const master = await keep(start("SYNC_MASTER", 0, "master"));
      const slave = await keep(start("SLAVE", 1, "slave"));
      await eventually(
        async () => (await haOf(slave)).state === "healthy",
        LONG,
      );
      const producer = RawClient.over(
        await dialTls(master.address("broker"), {
          identity: authority.sign("producer"),
        }),
      );
      // SEND_OK of a SYNC_MASTER: the slave has it.
      assertEquals((await producer.send("T", 0, bytesOf("both"))).code, 0);
      producer.close();
    });
    await refusals(authority);
  }));

/** `check-config` looks into the files, too. */
async function refusals(authority: TestAuthority): Promise<void> {
  const { folder } = authority;
  const conf = `${folder}/broker.conf`;
  const check = async (settings: string[], sentence: string) => {
    writeFileSync(conf, settings.join("\n"));
    const { code, stderr } = await runPocketMQ(["check-config", conf]);
    assertEquals(code, 2, stderr);
    assertStringIncludes(stderr, sentence);
  };
  const [mode, , cert] = authority.enforcing("master");
  await check(
    [mode!, `tls.server.keyPath=${folder}/slave.key`, cert!],
    `Cannot use tls.server.keyPath=${folder}/slave.key from ${conf}:2: it does not belong to the certificate`,
  );
  await check(
    [`tls.server.keyPath=${folder}/none.key`, cert!],
    "there is no such file",
  );
}
