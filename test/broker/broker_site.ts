/** A broker of a test's own: free ports, small files, a folder that goes. */
import { openRuntime } from "#runtime";
import { BrokerController } from "../../src/broker/broker_controller.ts";
import {
  type BrokerOptions,
  DEFAULT_BROKER_OPTIONS,
} from "../../src/broker/broker_options.ts";
import type { Clock } from "../../src/io/clock.ts";
import { DEFAULT_HA_OPTIONS } from "../../src/ha/ha_options.ts";
import {
  DEFAULT_REMOTING_CLIENT_OPTIONS,
  DEFAULT_REMOTING_SERVER_OPTIONS,
} from "../../src/remoting/remoting_options.ts";
import {
  DEFAULT_MESSAGE_STORE_OPTIONS,
  type MessageStoreOptions,
} from "../../src/store/store_options.ts";
import { FakeLogger } from "./fakes.ts";

export const runtime = openRuntime();

/** The slices of a small broker. */
export function brokerSlices(
  folder: string,
  broker: Partial<BrokerOptions> = {},
  store: Partial<MessageStoreOptions> = {},
) {
  return {
    broker: {
      ...DEFAULT_BROKER_OPTIONS,
      bindAddress: "127.0.0.1",
      listenPort: 0,
      brokerName: "broker-a",
      storePathRootDir: folder,
      ...broker,
    },
    store: {
      ...DEFAULT_MESSAGE_STORE_OPTIONS,
      storePathRootDir: folder,
      mappedFileSizeCommitLog: 1_048_576,
      mappedFileSizeConsumeQueue: 20_000,
      maxHashSlotNum: 1_000,
      maxIndexNum: 4_000,
      ...store,
    },
    ha: DEFAULT_HA_OPTIONS,
    remotingServer: DEFAULT_REMOTING_SERVER_OPTIONS,
    remotingClient: DEFAULT_REMOTING_CLIENT_OPTIONS,
  };
}

/** A started broker; the caller stops `controller`. */
export async function startBroker(
  folder: string,
  broker: Partial<BrokerOptions> = {},
  store: Partial<MessageStoreOptions> = {},
  clock: Clock = runtime.clock,
) {
  const logger = new FakeLogger();
  const configuration = {
    text: () => "",
    dataVersion: { stateVersion: 0, timestamp: 0, counter: 0 },
    update: () => Promise.reject(new Error("not here")),
  };
  const controller = new BrokerController(
    { ...runtime, clock, logger, configuration },
    brokerSlices(folder, broker, store),
  );
  await controller.start();
  return { controller, logger, address: controller.listeners[0]!.bound };
}

/** The heartbeat of one push consumer of group `g` on topic `T`. */
export const HEARTBEAT: Uint8Array = new TextEncoder().encode(JSON.stringify({
  clientID: "127.0.0.1@1",
  producerDataSet: [],
  consumerDataSet: [{
    groupName: "g",
    consumeType: "CONSUME_PASSIVELY",
    messageModel: "CLUSTERING",
    consumeFromWhere: "CONSUME_FROM_FIRST_OFFSET",
    subscriptionDataSet: [{
      topic: "T",
      subString: "*",
      tagsSet: [],
      codeSet: [],
      subVersion: 1,
      expressionType: "TAG",
      classFilterMode: false,
    }],
    unitMode: false,
  }],
}));
