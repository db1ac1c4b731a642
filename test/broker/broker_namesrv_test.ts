/** A broker and real name servers: being known, being forgotten, being known again. */
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { decodeTopicRouteData } from "../../src/protocol/body/topic_route_data.ts";
import { eventually } from "../support/eventually.ts";
import { RawClient } from "../support/raw_client.ts";
import { withTempDirectory } from "../support/temp_directory.ts";
import { brokerSlices, startBroker } from "./broker_site.ts";
import { startNamesrv } from "./namesrv_site.ts";

/** The route of a topic, or the code. */
async function routeOf(namesrv: string, topic: string) {
  const client = await RawClient.open(namesrv);
  const answer = await client.invoke(105, { topic });
  client.close();
  return answer.code === 0 ? decodeTopicRouteData(answer.body) : answer.code;
}

/** True once `topic` is routed. */
async function isRouted(namesrv: string, topic: string): Promise<boolean> {
  return typeof await routeOf(namesrv, topic) !== "number";
}

test("BrokerController is routed by every name server, and a dead one delays nothing", () =>
  withTempDirectory(async (folder) => {
    const a = await startNamesrv(`${folder}/a`);
    const b = await startNamesrv(`${folder}/b`);
    await b.namesrv.stop();
    const startedMs = performance.now();
    const { controller, address } = await startBroker(`${folder}/store`, {
      namesrvAddr: `${a.address};${b.address}`,
    });
    assert(performance.now() - startedMs < 2_000);
    await eventually(() => isRouted(a.address, "TBW102"));
    const client = await RawClient.open(address);
    assertEquals((await client.send("T", 0, new Uint8Array(1))).code, 0);
    await eventually(() => isRouted(a.address, "T"));
    const route = await routeOf(a.address, "T");
    assert(typeof route !== "number");
    assertEquals(
      [...route.brokerDatas[0]!.brokerAddrs],
      [[0, controller.identity.brokerAddr]],
    );
    // The dead one comes back and is told within two seconds or so.
    const again = await startNamesrv(
      `${folder}/b`,
      Number(b.address.split(":")[1]),
    );
    await eventually(() => isRouted(b.address, "T"));
    client.close();
    await controller.stop();
    assertEquals(await routeOf(a.address, "T"), 17);
    assertEquals(await routeOf(b.address, "T"), 17);
    await a.namesrv.stop();
    await again.namesrv.stop();
  }));

test("BrokerController registers again at once with a name server that was restarted", () =>
  withTempDirectory(async (folder) => {
    const first = await startNamesrv(folder);
    const { controller } = await startBroker(`${folder}/store`, {
      namesrvAddr: first.address,
    });
    await eventually(() => isRouted(first.address, "TBW102"));
    await first.namesrv.stop();
    const port = Number(first.address.split(":")[1]);
    const second = await startNamesrv(folder, port);
    await eventually(() => isRouted(first.address, "TBW102"));
    await controller.stop();
    await second.namesrv.stop();
  }));

test("BrokerController routes a topic before code 17 is answered", () =>
  withTempDirectory(async (folder) => {
    const { namesrv, address: namesrvAddr } = await startNamesrv(folder);
    const { controller, address } = await startBroker(`${folder}/store`, {
      namesrvAddr,
    });
    await eventually(() => isRouted(namesrvAddr, "TBW102"));
    const client = await RawClient.open(address);
    for (let index = 0; index < 5; index++) {
      const topic = `made-${index}`;
      const made = await client.invoke(17, {
        topic,
        defaultTopic: "TBW102",
        readQueueNums: "4",
        writeQueueNums: "4",
        perm: "6",
        topicFilterType: "SINGLE_TAG",
        topicSysFlag: "0",
        order: "false",
      });
      assertEquals(made.code, 0, made.remark ?? "");
      assert(await isRouted(namesrvAddr, topic), topic);
    }
    client.close();
    await controller.stop();
    await namesrv.stop();
  }));

test("BrokerController has no route of TBW102 once it starts without auto-creation", () =>
  withTempDirectory(async (folder) => {
    const { namesrv, address: namesrvAddr } = await startNamesrv(folder);
    const store = `${folder}/store`;
    for (const autoCreateTopicEnable of [true, false]) {
      const options = { namesrvAddr, autoCreateTopicEnable };
      const { controller } = await startBroker(store, options);
      await eventually(() => isRouted(namesrvAddr, "SELF_TEST_TOPIC"));
      const isThere = await isRouted(namesrvAddr, "TBW102");
      assertEquals(isThere, autoCreateTopicEnable);
      await controller.stop();
    }
    await namesrv.stop();
  }));

test("BrokerController.reconfigure() takes permissions and name servers", () =>
  withTempDirectory(async (folder) => {
    const { namesrv, address: namesrvAddr } = await startNamesrv(folder);
    const store = `${folder}/store`;
    const { controller } = await startBroker(store);
    controller.reconfigure(brokerSlices(store, { namesrvAddr }));
    await eventually(() => isRouted(namesrvAddr, "TBW102"));
    controller.reconfigure(
      brokerSlices(store, { namesrvAddr, brokerPermission: 4 }),
    );
    await eventually(async () => {
      const route = await routeOf(namesrvAddr, "SELF_TEST_TOPIC");
      return typeof route !== "number" && route.queueDatas[0]!.perm === 4;
    });
    await controller.stop();
    await namesrv.stop();
  }));
