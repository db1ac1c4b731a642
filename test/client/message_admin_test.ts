/** Messages looked up by their id, wherever their broker is by now (scenario 147). */
import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { MQAdmin } from "../../src/client/mq_admin.ts";
import { DEFAULT_CLIENT_OPTIONS } from "../../src/client/client_options.ts";
import { MQClientInstance } from "../../src/client/mq_client_instance.ts";
import { runtime, startBroker } from "../broker/broker_site.ts";
import { startNamesrv } from "../broker/namesrv_site.ts";
import { SimLogger } from "../sim/sim_logger.ts";
import { eventually } from "../support/eventually.ts";
import { RawClient } from "../support/raw_client.ts";
import { withTempDirectory } from "../support/temp_directory.ts";
import { bytesOf, textOf } from "./sim_site.ts";

test("147: an id is resolved by its offset when its broker has another address", () =>
  withTempDirectory(async (folder) => {
    const { address: namesrvAddr, namesrv } = await startNamesrv(folder);
    const options = { namesrvAddr };
    const first = await startBroker(`${folder}/a`, options);
    const other = await startBroker(`${folder}/b`, {
      ...options,
      brokerName: "broker-b",
    });
    const client = await RawClient.open(first.address);
    const ids: string[] = [];
    for (const text of ["one", "two"]) {
      const sent = await client.send("T", 0, bytesOf(text));
      assertEquals(sent.code, 0, sent.remark ?? "");
      ids.push(sent.extFields.msgId!);
    }
    client.close();
    // At the same place of another log there is another message.
    const stranger = await RawClient.open(other.address);
    await stranger.send("T", 0, bytesOf("no"));
    stranger.close();
    await first.controller.stop();

    const second = await startBroker(`${folder}/a`, options);
    const instance = new MQClientInstance(
      { ...runtime, logger: new SimLogger() },
      { ...DEFAULT_CLIENT_OPTIONS, namesrvAddr },
    );
    const { messages } = new MQAdmin(instance);
    await eventually(async () =>
      (await instance.namesrv.clusterInfo()).brokerAddrTable.size === 2
    );
    const view = async (id: string) => {
      const found = await messages.viewByOffsetId(id);
      return found && [textOf(found.body), found.offsetMsgId];
    };
    assertEquals(await view(ids[0]!), ["one", ids[0]]);
    assertEquals(await view(ids[1]!.toLowerCase()), ["two", ids[1]]);
    const nowhere = ids[1]!.slice(0, -2) + "F9";
    assertEquals(await view(nowhere), undefined);
    await instance.stop();
    await second.controller.stop();
    await other.controller.stop();
    await namesrv.stop();
  }));
