/** 20,000 connections of probes and scanners on the HA port of a pair that works. */
import { assert, assertEquals } from "@std/assert";
import { haOf } from "../support/broker_process.ts";
import { junkConnections } from "../support/junk_connections.ts";
import { settledBytes } from "../support/process_figures.ts";
import {
  assertNeverReconnected,
  caughtUp,
  sendOne,
  type Story,
  withSlave,
  withWire,
} from "./story.ts";

const MIB = 1024 * 1024;
const COUNT = 20_000;
const GROWTH_BYTES_MAX = 10 * MIB;

/** Memory stays, the real slave stays. */
export const junkStory: Story = {
  name: "junk",
  promise:
    "20,000 junk connections on the HA port: memory within 10 MiB, the slave never drops",
  isQuiet: false,
  run: () =>
    withWire([], (wire) =>
      withSlave(wire, async (slave) => {
        const { master, link } = wire;
        await sendOne(master);
        await caughtUp(master, slave);
        const before = await settledBytes(master.pid);
        await junkConnections(master.port("ha"), COUNT);
        await sendOne(master);
        await caughtUp(master, slave);
        const after = await settledBytes(master.pid);
        const { haConnectionInfo } = await haOf(master);
        assertEquals(haConnectionInfo.length, 1, "links of the master");
        await assertNeverReconnected(link, slave);
        const growth = after - before;
        const figures = `${(before / MIB).toFixed(1)} MiB before, ${
          (after / MIB).toFixed(1)
        } MiB after`;
        assert(growth <= GROWTH_BYTES_MAX, figures);
        return `${figures}, 1 link`;
      })),
};
