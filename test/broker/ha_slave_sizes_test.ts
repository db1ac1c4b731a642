import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { HASlaveSizes } from "../../src/broker/ha_slave_sizes.ts";
import { encodeClusterInfo } from "../../src/protocol/body/cluster_info.ts";
import { createResponse } from "../../src/protocol/remoting_command.ts";
import { FakeClock } from "./fakes.ts";

/** `configs`: the file size that the slave at an address tells. */
function openSizes(
  slaves: readonly string[],
  configs: Record<string, number>,
  namesrvAddr = "ns:9876",
) {
  const clock = new FakeClock();
  let requests = 0;
  const sizes = new HASlaveSizes({
    client: {
      invoke: (address) => {
        requests++;
        const size = configs[address];
        if (address !== "ns:9876" && size === undefined) {
          return Promise.reject(new Error("nobody is there"));
        }
        const body = address === "ns:9876"
          ? encodeClusterInfo({
            brokerAddrTable: new Map([["broker-a", {
              cluster: "C",
              brokerName: "broker-a",
              brokerAddrs: new Map([
                [0, "10.0.0.5:10911"],
                ...slaves.map((it, index) => [index + 1, it] as const),
              ]),
              zoneName: null,
              enableActingMaster: false,
            }]]),
            clusterAddrTable: new Map(),
          })
          : new TextEncoder().encode(`mappedFileSizeCommitLog=${size}\n`);
        return Promise.resolve(createResponse(0, null, {}, body));
      },
    },
    clock,
    identity: {
      clusterName: "C",
      brokerName: "broker-a",
      brokerAddr: "10.0.0.5:10911",
      brokerId: 0,
      haServerAddr: "10.0.0.5:10912",
      heartbeatTimeoutMillis: 20_000,
    },
    namesrvAddrs: () => namesrvAddr === "" ? [] : [namesrvAddr],
    mappedFileSize: () => 1_000,
  });
  return { sizes, clock, requests: () => requests };
}

test("HASlaveSizes.admit() refuses a slave of another file size and names the cure", async () => {
  const { sizes } = openSizes(["10.0.0.6:10911"], { "10.0.0.6:10911": 2_000 });
  const refusal = await sizes.admit("10.0.0.6:50000");
  assert(
    refusal!.includes("is 1000 here and 2000 at the slave 10.0.0.6:10911"),
  );
  assert(refusal!.includes("mappedFileSizeCommitLog=1000"));
});

test("HASlaveSizes.admit() tells slaves apart by their host", async () => {
  const { sizes } = openSizes(["10.0.0.6:10911", "10.0.0.7:10911"], {
    "10.0.0.6:10911": 2_000,
    "10.0.0.7:10911": 1_000,
  });
  assert(await sizes.admit("10.0.0.6:50000") !== null);
  assertEquals(await sizes.admit("10.0.0.7:50000"), null);
  // Behind NAT: one of them fits, so nothing is known against it.
  assertEquals(await sizes.admit("192.0.2.1:50000"), null);
});

test("HASlaveSizes.admit() lets in whom nobody knows, and asks once a second", async () => {
  const silent = openSizes(["10.0.0.6:10911"], {});
  assertEquals(await silent.sizes.admit("10.0.0.6:50000"), null);
  const alone = openSizes([], {}, "");
  assertEquals(alone.sizes.admit("10.0.0.6:50000"), null);
  assertEquals(alone.requests(), 0);
  const busy = openSizes([], {});
  for (let count = 0; count < 100; count++) await busy.sizes.admit("x:1");
  assertEquals(busy.requests(), 1);
  busy.clock.advance(1_000);
  await busy.sizes.admit("x:1");
  assertEquals(busy.requests(), 2);
});
