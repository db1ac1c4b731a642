/** Inner batches of 5.x: one record that takes as many queue offsets as it has messages. */
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { MessageSysFlag } from "../../src/model/message_sys_flag.ts";
import type { MessageStore } from "../../src/store/message_store.ts";
import { verifyStore } from "../../src/store/store_verify.ts";
import { brokerInner, encodeRecord } from "../model/message_fixture.ts";
import { get, messagesOf, ROOT, StoreSite } from "./message_store_fixture.ts";

const BATCH_SIZE = 4;

/** A record of Apache's master arrives at a slave. */
function replicate(
  { clock }: StoreSite,
  { maxPhyOffset, replicaLog }: MessageStore,
  queueOffset: number,
  innerNum: number,
): void {
  const message = brokerInner({
    sysFlag: MessageSysFlag.INNER_BATCH,
    propertiesText: `INNER_NUM\u0001${innerNum}\u0002`,
  });
  const record = encodeRecord(
    message,
    queueOffset,
    maxPhyOffset,
    clock.nowMs(),
  );
  assert(replicaLog.append(maxPhyOffset, record));
}

test("a slave serves and verifies inner batches of an Apache master", async () => {
  const site = new StoreSite();
  const store = await site.open({ brokerRole: "SLAVE", brokerId: 1 });
  for (let number = 0; number < 3; number++) {
    replicate(site, store, number * BATCH_SIZE, BATCH_SIZE);
  }
  await site.pass(store, 1_000);
  const offsetsFrom = (offset: number) =>
    messagesOf(get(store, offset)).map((it) => it.queueOffset);
  assertEquals(offsetsFrom(0), [0, 4, 8]);
  assertEquals(offsetsFrom(1), [4, 8]);
  assertEquals(offsetsFrom(8), [8]);
  await site.clock.complete(store.shutdown());
  const { findings } = await verifyStore(site.disk, ROOT);
  assertEquals(findings.map((it) => it.message), []);
});

test("an offset that an inner batch does not explain is found", async () => {
  const site = new StoreSite();
  const store = await site.open({ brokerRole: "SLAVE", brokerId: 1 });
  for (const queueOffset of [0, 3]) replicate(site, store, queueOffset, 2);
  await site.pass(store, 1_000);
  await site.clock.complete(store.shutdown());
  const { findings } = await verifyStore(site.disk, ROOT);
  assertEquals(findings.map((it) => it.kind), ["queue-offset"]);
});
