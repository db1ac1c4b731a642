/**
 * Stock push consumers move to our slave when our master is gone, and back: nothing of the
 * backlog is missing, and no position is lost, also not one that was set back on purpose.
 */
import process from "node:process";
import { test } from "node:test";
import { TcpProxy } from "../support/tcp_proxy.ts";
import { freePort } from "./free_ports.ts";
import { awaitTables, inSync } from "./ha_pair.ts";
import { type InteropSite, withInteropSite } from "./interop_site.ts";
import { type MasterPath, ReaderStory, TOPICS } from "./reader_story.ts";
import { assertAllCommitted, numbers } from "./readers.ts";

/** All clients at all name servers, and a master that vanishes instead of dying. */
const IS_WHOLE = process.env.INTEROP_WHOLE === "1";
const MOVED_WITHIN_MS = 60_000;
/**
 * What a 4.9 name server needs to forget a silent broker and to look for it, a client's question
 * for the route, the pull that waits at the broker that is gone and its pause, and the messages.
 */
const BLACKHOLE_MOVED_WITHIN_MS = 130_000 + 30_000 + 33_000 + 15_000;
/** Where the blackholed master's clients find it; it binds 127.0.0.1. */
const OTHER_LOOPBACK = "127.0.0.2";

test("stock push consumers of 4.9 and 5.x move to our slave and back, through Apache's name server and ours", async () => {
  await withInteropSite(async (site) => {
    const story = await ReaderStory.open(site, IS_WHOLE);
    await story.readersMove(
      () => story.master.stop("SIGKILL"),
      MOVED_WITHIN_MS,
    );
    await allCommitted(story, story.slave.address);
    await story.restartMaster();
    await allCommitted(story, story.master.address);
    const sentAt = Date.now();
    await story.send("Backlog", 20_000, 100);
    await story.onlyNew(numbers(20_000, 100), MOVED_WITHIN_MS);
    await setBackAndMadeAgain(story, sentAt);
  });
});

async function allCommitted(story: ReaderStory, at: string): Promise<void> {
  for (const it of TOPICS) await assertAllCommitted(at, story.readers, it);
}

/** Both change what a position means; the slave and the master that returns must hold to it. */
async function setBackAndMadeAgain(
  story: ReaderStory,
  sentAt: number,
): Promise<void> {
  const { site, namesrv, master, slave } = story;
  for (const { group } of story.readers) {
    const to = ["--topic", "Backlog", "--to", String(sentAt)];
    await site.run(namesrv, "group", "reset-offset", group, ...to);
  }
  const at = ["--broker", master.address];
  await site.run(namesrv, "topic", "delete", "Again", ...at);
  await site.createTopic(namesrv, "Again", ...at);
  await story.send("Again", 30_000, 50);
  await awaitTables(site, master, slave, 5_000);
  await master.stop("SIGKILL");
  await story.onlyNew(
    [...numbers(20_000, 100), ...numbers(30_000, 50)],
    MOVED_WITHIN_MS,
  );
  await story.restartMaster();
  await allCommitted(story, story.master.address);
  await story.send("Again", 40_000, 20);
  await story.onlyNew(numbers(40_000, 20), MOVED_WITHIN_MS);
}

if (IS_WHOLE) {
  test("stock push consumers leave a master that vanishes without a word from TCP", async () => {
    await withInteropSite(async (site) => {
      const proxies: TcpProxy[] = [];
      const story = await ReaderStory.open(
        site,
        true,
        (namesrvs) => pathThrough(site, proxies, namesrvs),
      );
      await story.readersMove(
        () => proxies.forEach((it) => it.blackhole()),
        BLACKHOLE_MOVED_WITHIN_MS,
      );
      await allCommitted(story, story.slave.address);
      proxies.forEach((it) => it.heal());
      await inSync(site, story.master, 1);
      await story.send("Backlog", 20_000, 100);
      await story.onlyNew(numbers(20_000, 100), MOVED_WITHIN_MS);
      await allCommitted(story, story.master.address);
    });
  });
}

/** All that the master says and hears, clients, slave and name servers, goes through proxies. */
async function pathThrough(
  site: InteropSite,
  proxies: TcpProxy[],
  namesrvs: string[],
): Promise<MasterPath> {
  const listenPort = await freePort([-2, 1]);
  const proxyTo = async (address: string, port: number) => {
    const [host, targetPort] = address.split(":");
    const proxy = await site.own(TcpProxy.start(
      { host: OTHER_LOOPBACK, port },
      { host: host!, port: Number(targetPort) },
    ));
    proxies.push(proxy);
    return proxy.address;
  };
  for (const port of [listenPort - 2, listenPort, listenPort + 1]) {
    await proxyTo(`127.0.0.1:${port}`, port);
  }
  const byNamesrv = new Map<string, string>();
  for (const it of namesrvs) byNamesrv.set(it, await proxyTo(it, 0));
  return {
    options: {
      listenPort,
      settings: { brokerIP1: OTHER_LOOPBACK, brokerIP2: OTHER_LOOPBACK },
    },
    namesrvOf: (address) => byNamesrv.get(address)!,
  };
}
