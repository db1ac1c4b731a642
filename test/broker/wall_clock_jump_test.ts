import { assertEquals } from "@std/assert";
import { test } from "node:test";
import type { Clock } from "../../src/io/clock.ts";
import { RequestCode } from "../../src/protocol/request_code.ts";
import { ResponseCode } from "../../src/protocol/response_code.ts";
import { RawClient } from "../support/raw_client.ts";
import { withTempDirectory } from "../support/temp_directory.ts";
import { HEARTBEAT, runtime, startBroker } from "./broker_site.ts";

/** The runtime's clock with hands that a test can turn; tells of every tick. */
class TurnedClock implements Clock {
  wallMs = 0;
  elapsedMs = 0;
  onTick = () => {};

  nowMs(): number {
    return runtime.clock.nowMs() + this.wallMs;
  }
  monotonicMs(): number {
    return runtime.clock.monotonicMs() + this.elapsedMs;
  }
  every(intervalMs: number, run: () => void) {
    return runtime.clock.every(intervalMs, () => {
      run();
      this.onTick();
    });
  }
  after(delayMs: number, run: () => void) {
    return runtime.clock.after(delayMs, run);
  }
  ticks(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.onTick = () => --count === 0 && resolve();
    });
  }
}

test("a broker whose wall clock is set keeps clients and locks", async () => {
  await withTempDirectory(async (folder) => {
    const clock = new TurnedClock();
    const { controller, address } = await startBroker(folder, {}, {}, clock);
    try {
      const [owner, other] = [
        await RawClient.open(address),
        await RawClient.open(address),
      ];
      await owner.invoke(RequestCode.HEART_BEAT, {}, HEARTBEAT);
      const lock = async (by: RawClient, clientId: string) => {
        const answer = await by.invoke(
          RequestCode.LOCK_BATCH_MQ,
          {},
          new TextEncoder().encode(JSON.stringify({
            consumerGroup: "g",
            clientId,
            mqSet: [{ topic: "T", brokerName: "broker-a", queueId: 0 }],
          })),
        );
        return JSON.parse(new TextDecoder().decode(answer.body))
          .lockOKMQSet.length;
      };
      assertEquals(await lock(owner, "a"), 1);
      for (const jumpMs of [86_400_000, -2 * 86_400_000]) {
        clock.wallMs += jumpMs;
        // Time for a scan of the clients.
        clock.elapsedMs += 11_000;
        await clock.ticks(3);
        assertEquals(await lock(other, "b"), 0);
        const group = { consumerGroup: "g" };
        const members = await owner.invoke(
          RequestCode.GET_CONSUMER_LIST_BY_GROUP,
          group,
        );
        assertEquals(members.code, ResponseCode.SUCCESS);
      }
      owner.close();
      other.close();
    } finally {
      await controller.stop();
    }
  });
});
