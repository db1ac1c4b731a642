/** Routes at a name server whose brokers come again, and at one that comes again itself. */
import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { encodeRegisterBrokerBody } from "../../src/protocol/body/register_broker_body.ts";
import { encodeRegisterBrokerRequestHeader } from "../../src/protocol/header/register_broker_header.ts";
import { bodyOf, type BrokerSpec, headerOf } from "../namesrv/support.ts";
import {
  startBrokerProcess,
  withProcesses,
} from "../support/broker_process.ts";
import { eventually as within } from "../support/eventually.ts";
import {
  msUntilRoute,
  routeOf,
  RouteWatch,
  startNamesrvProcess,
} from "../support/namesrv_process.ts";
import { RawClient } from "../support/raw_client.ts";
import { withTempDirectory } from "../support/temp_directory.ts";

/** Waits long enough for a machine that runs many tests at once. */
function eventually(condition: () => unknown): Promise<unknown> {
  return within(condition, { timeoutMs: 60_000 });
}

/** How long a name server that restarts may be without the route (scenario 132). */
const ROUTE_BACK_MS = 2_000;

async function register(client: RawClient, spec: BrokerSpec): Promise<void> {
  const answer = await client.invoke(
    103,
    encodeRegisterBrokerRequestHeader(headerOf(spec)),
    encodeRegisterBrokerBody(bodyOf(spec)),
  );
  assertEquals(answer.code, 0, answer.remark ?? "");
}

test("the route never vanishes while a broker registers on a second connection and the first one closes", () =>
  withTempDirectory((folder) =>
    withProcesses(async (keep) => {
      const namesrv = await keep(startNamesrvProcess(folder));
      const address = namesrv.address("namesrv");
      let current = await RawClient.open(address);
      await register(current, {});
      const watch = await RouteWatch.start(address, "T");
      for (let round = 0; round < 60; round++) {
        const next = await RawClient.open(address);
        await register(next, { counter: 1 + round % 2 });
        current.close();
        const askedBefore = watch.asked;
        await eventually(() => watch.asked >= askedBefore + 3);
        current = next;
      }
      // One address that was the slave and is the master now: the slave's good-bye is late.
      const { brokerAddr, brokerName, clusterName } = headerOf({});
      const left = await current.invoke(104, {
        brokerAddr,
        brokerName,
        clusterName,
        brokerId: "1",
      });
      assertEquals(left.code, 0);
      const askedBefore = watch.asked;
      await eventually(() => watch.asked >= askedBefore + 3);
      await watch.stop();
      assertEquals(watch.missing, []);
      // The last connection is the broker's: with it, it is gone.
      current.close();
      const client = await RawClient.open(address);
      await eventually(async () => await routeOf(client, "T") === 17);
      client.close();
    })
  ));

test("a name server that restarts has the route again within 2 s, however long it was away", () =>
  withTempDirectory((folder) =>
    withProcesses(async (keep) => {
      const stays = await keep(startNamesrvProcess(`${folder}/stays`));
      let leaves = await keep(startNamesrvProcess(`${folder}/leaves`));
      const [one, other] = [stays, leaves].map((it) => it.address("namesrv"));
      const broker = await keep(
        startBrokerProcess(
          `${folder}/broker`,
          `namesrvAddr=${one};${other}`,
          "brokerIP1=127.0.0.1",
        ),
      );
      const sender = await RawClient.open(broker.address("broker"));
      const watch = await RouteWatch.start(one!, "TBW102");
      for (const awayMs of [0, 3_300]) {
        await leaves.stop("SIGKILL");
        const port = leaves.port("namesrv");
        const goneMs = performance.now();
        while (performance.now() - goneMs < awayMs) {
          assertEquals((await sender.send("T", 0, new Uint8Array(8))).code, 0);
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
        leaves = await keep(startNamesrvProcess(`${folder}/leaves`, port));
        const early = await msUntilRoute(other!, "TBW102");
        assert(early.ms < ROUTE_BACK_MS, `no route for ${early.ms} ms`);
        // Not known is not the same as absent: clients ask another name server.
        assertEquals([...early.codes].filter((it) => it !== 1), []);
      }
      await watch.stop();
      assertEquals(watch.missing, []);
      sender.close();
    })
  ));
