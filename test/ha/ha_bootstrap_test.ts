/** Where an empty slave begins, and what becomes of it when that place goes. */
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { isEqualRange } from "../sim/ha_compare.ts";
import { HANode } from "../sim/ha_node.ts";
import { pairOf, put } from "./ha_pair_fixture.ts";

const FILE_SIZE = 1_048_576;

for (const deletedFirst of [0, 1]) {
  test(`haBootstrap=min: files deleted behind the comparison (${deletedFirst} before) are asked for no longer`, async () => {
    const pair = pairOf();
    const { clock } = pair.world;
    const master = (await pair.master.start())!;
    const { mappedFileQueue } = master.store.commitLog;
    for (let count = 0; count < 40; count++) put(pair, 100_000);
    await mappedFileQueue.deleteFirstFiles(deletedFirst);
    const asked: number[] = [];
    const slave = new HANode(pair.world, {
      ...pair.slave.options,
      wrapProbe: (probe) => ({
        compare: async (address) => {
          const compared = await probe.compare(address);
          if (compared.kind === "prefix") asked.push(compared.requestOffset);
          if (asked.length === 1) await mappedFileQueue.deleteFirstFiles(1);
          return compared;
        },
        masterMaxOffset: (address) => probe.masterMaxOffset(address),
      }),
    });
    const life = (await slave.start())!;
    await clock.run(8_000);
    // Heartbeats only, and no byte of elsewhere.
    assertEquals(life.store.maxPhyOffset, 0);
    await clock.run(12_000);
    const begin = (deletedFirst + 1) * FILE_SIZE;
    assertEquals(asked, [Math.max(1, deletedFirst * FILE_SIZE), begin]);
    assertEquals(life.store.minPhyOffset, begin);
    const { maxPhyOffset } = master.store;
    assertEquals(life.store.maxPhyOffset, maxPhyOffset);
    assert(isEqualRange(life.store, master.store, begin, maxPhyOffset));
    assertEquals(life.client!.view().problem, null);
  });
}
