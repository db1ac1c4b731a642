import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { HANeighbours } from "../../src/broker/ha_neighbours.ts";
import { encodeClusterInfo } from "../../src/protocol/body/cluster_info.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../../src/protocol/remoting_command.ts";
import { encodeHARole } from "../../src/protocol/body/ha_role_body.ts";
import { PocketmqRequestCode } from "../../src/protocol/pocketmq_request_code.ts";
import { RequestCode } from "../../src/protocol/request_code.ts";
import { FakeClock, FakeLogger } from "./fakes.ts";

const NAMESRV = "ns:9876";

async function settle(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await Promise.resolve();
}

class Site {
  readonly clock = new FakeClock();
  readonly logger = new FakeLogger();
  /** Addresses by broker name and id, as the name server shows them. */
  readonly brokers = new Map<string, Map<number, string>>();
  /** What living brokers say of themselves. */
  readonly configs = new Map<string, string>();
  /** Epochs of those that know of one. */
  readonly epochs = new Map<string, number>();
  isWithoutMaster = false;
  cluster = "C";
  warning: string | null = null;
  kind: string | null = null;
  readonly neighbours: HANeighbours;
  readonly patienceMs = new Set<number>();

  constructor(brokerId = 0) {
    this.neighbours = new HANeighbours({
      client: {
        invoke: (address, request, timeoutMs) => {
          if (address === NAMESRV) this.patienceMs.add(timeoutMs);
          return this.#answer(address, request);
        },
      },
      clock: this.clock,
      logger: this.logger,
      identity: {
        clusterName: "C",
        brokerName: "broker-a",
        brokerAddr: "10.0.0.5:10911",
        brokerId,
        haServerAddr: "10.0.0.5:10912",
        heartbeatTimeoutMillis: 20_000,
      },
      namesrvAddrs: () => [NAMESRV],
      isWithoutMaster: () => this.isWithoutMaster,
      epoch: () => 3,
      onWarning: (warning) => {
        this.warning = warning?.text ?? null;
        this.kind = warning?.kind ?? null;
      },
    });
    this.neighbours.start();
  }

  async after(ms: number): Promise<string | null> {
    await settle();
    this.clock.advance(ms);
    this.neighbours.tick();
    await settle();
    return this.warning;
  }

  #answer(address: string, request: RemotingCommand): Promise<RemotingCommand> {
    if (request.code === RequestCode.GET_BROKER_CLUSTER_INFO) {
      const brokerAddrTable = new Map(
        [...this.brokers].map(([brokerName, brokerAddrs]) => [brokerName, {
          cluster: this.cluster,
          brokerName,
          brokerAddrs,
          zoneName: null,
          enableActingMaster: false,
        }]),
      );
      return Promise.resolve(createResponse(
        0,
        null,
        {},
        encodeClusterInfo({ brokerAddrTable, clusterAddrTable: new Map() }),
      ));
    }
    if (request.code === PocketmqRequestCode.GET_HA_ROLE) {
      const epoch = this.epochs.get(address);
      return Promise.resolve(
        epoch === undefined ? createResponse(3, "unknown") : createResponse(
          0,
          null,
          {},
          encodeHARole({
            role: "ASYNC_MASTER",
            brokerId: 0,
            brokerName: "broker-a",
            epoch,
            promotedAtOffset: 0,
            minOffset: 0,
            maxOffset: 0,
            haAddress: "",
            slaves: [],
            roleChange: "",
          }),
        ),
      );
    }
    const text = this.configs.get(address);
    return text === undefined
      ? Promise.reject(new Error("nobody is there"))
      : Promise.resolve(
        createResponse(0, null, {}, new TextEncoder().encode(text)),
      );
  }
}

const RIVAL = "10.0.0.6:10911";
const RIVAL_CONFIG =
  "brokerName=broker-a\nbrokerId=0\nbrokerIP1=10.0.0.6\nlistenPort=10911\n";

test("HANeighbours names a second broker in our place until it is gone", async () => {
  const site = new Site();
  site.brokers.set("broker-a", new Map([[0, RIVAL]]));
  site.configs.set(RIVAL, RIVAL_CONFIG);
  // In a change of roles both nodes have one id for some seconds.
  assertEquals(await site.after(5_000), null);
  const warning = await site.after(5_000);
  assert(warning!.includes("brokerId=0 of brokerName=broker-a"));
  assert(warning!.includes(RIVAL));
  assertEquals(site.logger.lines.length, 1);
  // The name server shows us again; the rival still claims the place.
  site.brokers.set("broker-a", new Map([[0, "10.0.0.5:10911"]]));
  assertEquals(await site.after(5_000), warning);
  assertEquals(site.logger.lines.length, 1);
  site.configs.delete(RIVAL);
  assertEquals(await site.after(5_000), null);
  // A name server that pauses must not lose the connection that keeps us registered.
  assertEquals([...site.patienceMs], [10_000]);
});

test("HANeighbours takes a stale address for none", async () => {
  const site = new Site();
  site.brokers.set("broker-a", new Map([[0, "10.0.0.5:20911"]]));
  assertEquals(await site.after(5_000), null);
  // Our own former port is forwarded to us.
  site.configs.set(
    "10.0.0.5:20911",
    "brokerName=broker-a\nbrokerId=0\nbrokerIP1=10.0.0.5\nlistenPort=10911\n",
  );
  assertEquals(await site.after(5_000), null);
});

test("HANeighbours tells a slave without a master which names there are", async () => {
  const site = new Site(1);
  site.isWithoutMaster = true;
  site.brokers.set("broker-b", new Map([[0, "10.0.0.9:10911"]]));
  assertEquals(await site.after(5_000), null);
  const warning = await site.after(5_000);
  assert(warning!.includes("No master with brokerName=broker-a"));
  assert(warning!.includes("masters there: broker-b; check brokerName"));
  site.isWithoutMaster = false;
  assertEquals(await site.after(5_000), null);
});

test("HANeighbours calls a master of a lower epoch overtaken, and only that one", async () => {
  for (
    const [epoch, kind] of [[2, "overtaken"], [3, "rival"], [
      4,
      "rival",
    ]] as const
  ) {
    const site = new Site();
    site.brokers.set("broker-a", new Map([[0, RIVAL]]));
    site.configs.set(RIVAL, RIVAL_CONFIG);
    site.epochs.set(RIVAL, epoch);
    await site.after(5_000);
    const warning = await site.after(5_000);
    assertEquals(site.kind, kind);
    assertEquals(warning!.includes("pocketmq ha demote"), kind === "overtaken");
  }
});

test("HANeighbours names the cluster of a master that has only another one", async () => {
  const site = new Site(1);
  site.isWithoutMaster = true;
  site.cluster = "Other";
  site.brokers.set("broker-a", new Map([[0, "10.0.0.9:10911"]]));
  await site.after(5_000);
  const warning = await site.after(5_000);
  assert(warning!.startsWith("brokerClusterName is C here and Other at"));
  site.cluster = "C";
  assertEquals(await site.after(5_000), null);
});
