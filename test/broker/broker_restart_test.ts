import { test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { HARoleFile } from "../../src/broker/ha_role_file.ts";
import { decodeHARole } from "../../src/protocol/body/ha_role_body.ts";
import { PocketmqRequestCode } from "../../src/protocol/pocketmq_request_code.ts";
import { MessageStore } from "../../src/store/message_store.ts";
import { RawClient } from "../support/raw_client.ts";
import { withTempDirectory } from "../support/temp_directory.ts";
import { runtime, startBroker } from "./broker_site.ts";
import { FakeLogger } from "./fakes.ts";

const BODY = new TextEncoder().encode("hello");

async function haRole(address: string) {
  const client = await RawClient.open(address);
  const answer = await client.invoke(PocketmqRequestCode.GET_HA_ROLE);
  client.close();
  assertEquals(answer.code, 0);
  return decodeHARole(answer.body);
}

test("restart() starts again on the same ports, with the store closed in between", () =>
  withTempDirectory(async (folder) => {
    const { controller, address } = await startBroker(folder);
    const client = await RawClient.open(address);
    assertEquals((await client.send("T", 0, BODY)).code, 0);
    const listeners = controller.listeners;
    const { storePathRootDir } = controller.options.broker;
    const options = controller.messageStore.options;
    const seen: string[] = [];
    await controller.restart({}, async () => {
      seen.push(`ready ${controller.isReady}`);
      await assertRejects(
        () => controller.restart({}),
        Error,
        "changing its role",
      );
      // Nobody holds the store's lock.
      const ports = { ...runtime, logger: new FakeLogger() };
      const store = new MessageStore(ports, options);
      await store.load();
      assertEquals([store.lastExitOk, store.maxPhyOffset > 0], [true, true]);
      await store.shutdown();
      seen.push(`root ${storePathRootDir === folder}`);
    });
    assertEquals(seen, ["ready false", "root true"]);
    assert(controller.isReady);
    assertEquals(controller.listeners, listeners);
    const again = await RawClient.open(address);
    const sent = await again.send("T", 0, BODY);
    assertEquals([sent.code, sent.extFields.queueOffset], [0, "1"]);
    assert(controller.remotingServer.counters.connectionsOpened >= 2);
    again.close();
    await controller.stop();
  }));

test("a promotion is written before anything is accepted, and beats the configuration", () =>
  withTempDirectory(async (folder) => {
    const slave = { brokerRole: "SLAVE", brokerId: 1 } as const;
    const { controller, address } = await startBroker(folder, slave, {
      brokerRole: "SLAVE",
    });
    const client = await RawClient.open(address);
    assertEquals((await client.send("T", 0, BODY)).code, 14);
    client.close();
    assertEquals((await haRole(address)).role, "SLAVE");
    await controller.restart({
      promotion: (promotedAtOffset) => ({
        role: "SYNC_MASTER",
        brokerId: 0,
        epoch: 7,
        promotedAtOffset,
      }),
    });
    const record = new HARoleFile(runtime.fileSystem, folder, new FakeLogger())
      .read();
    assertEquals(record?.epoch, 7);
    const shown = await haRole(address);
    assertEquals(
      [shown.role, shown.brokerId, shown.epoch, shown.brokerName],
      ["SYNC_MASTER", 0, 7, "broker-a"],
    );
    const { parts } = controller;
    for (
      const { dataVersion } of [
        parts.topicConfigManager,
        parts.subscriptionGroupManager,
        parts.consumerOffsetManager,
        parts.delayOffsetFile,
      ]
    ) assertEquals(dataVersion.stateVersion, 7);
    await controller.stop();

    // The same configuration as before: the file wins, and one line says so.
    const again = await startBroker(folder, slave, { brokerRole: "SLAVE" });
    assertEquals(again.controller.ha.role, "SYNC_MASTER");
    assertEquals(again.controller.identity.brokerId, 0);
    const lines = again.logger.lines.filter((it) =>
      it.includes("config/haRole.json says")
    );
    assertEquals(lines.length, 1);
    const producer = await RawClient.open(again.address);
    // Stored, and no slave confirms it.
    assertEquals((await producer.send("T", 0, BODY)).code, 11);
    producer.close();
    await again.controller.stop();
  }));

test("a restart that fails closes everything and is told", () =>
  withTempDirectory(async (folder) => {
    const { controller } = await startBroker(folder);
    const { listenPort } = controller.options.broker;
    const told: unknown[] = [];
    controller.onRestartFailed = (error) => told.push(error);
    const error = await assertRejects(
      () => controller.restart({}, () => Promise.reject(new Error("no room"))),
      Error,
      "no room",
    );
    assertEquals(told, [error]);
    assert(!controller.isReady);
    const listener = await runtime.network.listen(
      { hostname: "127.0.0.1", port: listenPort },
      () => ({ onData() {}, onDrain() {}, onClose() {} }),
    );
    await listener.close();
    await controller.stop();
  }));
