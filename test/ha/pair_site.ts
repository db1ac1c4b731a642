/** Two brokers of one name in this process, over real sockets and real files. */
import { readdirSync, readFileSync } from "node:fs";
import { BrokerController } from "../../src/broker/broker_controller.ts";
import type { BrokerOptions } from "../../src/broker/broker_options.ts";
import type { FileSystem } from "../../src/io/file_system.ts";
import type { HAOptions } from "../../src/ha/ha_options.ts";
import type { MessageStoreOptions } from "../../src/store/store_options.ts";
import { brokerSlices, runtime } from "../broker/broker_site.ts";
import { FakeLogger } from "../broker/fakes.ts";
import { eventually } from "../support/eventually.ts";
import { RawClient } from "../support/raw_client.ts";

/** One node. */
export interface PairNode {
  readonly controller: BrokerController;
  readonly logger: FakeLogger;
  readonly folder: string;
  /** `host:port` of its remoting port. */
  readonly address: string;
  readonly haAddress: string;
}

/** What a test may say of a node. */
export interface PairNodeOptions {
  readonly broker?: Partial<BrokerOptions>;
  readonly store?: Partial<MessageStoreOptions>;
  readonly ha?: Partial<HAOptions>;
  readonly fileSystem?: FileSystem;
}

/** Intervals that suit a test. */
const QUICK: Partial<HAOptions> = {
  haSendHeartbeatInterval: 200,
  haHousekeepingInterval: 2_000,
  slaveTimeout: 300,
};

/** Starts one node; the caller stops its controller. */
export async function startNode(
  folder: string,
  {
    broker = {},
    store = {},
    ha = {},
    fileSystem = runtime.fileSystem,
  }: PairNodeOptions,
): Promise<PairNode> {
  const logger = new FakeLogger();
  const role = broker.brokerRole ?? "ASYNC_MASTER";
  const slices = brokerSlices(folder, broker, {
    mappedFileSizeCommitLog: 262_144,
    maxMessageSize: 65_536,
    brokerRole: role,
    brokerId: broker.brokerId ?? 0,
    ...store,
  });
  const configuration = {
    text: () =>
      `brokerName=${slices.broker.brokerName}\n` +
      `brokerClusterName=${slices.broker.brokerClusterName}\n` +
      `brokerRole=${role}\n` +
      "mappedFileSizeCommitLog=" +
      `${slices.store.mappedFileSizeCommitLog}\n`,
    dataVersion: { stateVersion: 0, timestamp: 0, counter: 0 },
    update: () => Promise.reject(new Error("not here")),
  };
  const controller = new BrokerController(
    { ...runtime, fileSystem, logger, configuration },
    { ...slices, ha: { ...slices.ha, ...QUICK, ...ha } },
  );
  await controller.start();
  const [listener, , haListener] = controller.listeners;
  return {
    controller,
    logger,
    folder,
    address: listener!.bound,
    haAddress: haListener!.bound,
  };
}

export function startMaster(
  folder: string,
  options: PairNodeOptions = {},
): Promise<PairNode> {
  return startNode(folder, options);
}

/** A slave of `master`, found without a name server. */
export function startSlave(
  folder: string,
  master: PairNode,
  options: PairNodeOptions = {},
): Promise<PairNode> {
  return startNode(folder, {
    ...options,
    broker: { brokerRole: "SLAVE", brokerId: 1, ...options.broker },
    ha: { haMasterAddress: master.haAddress, ...options.ha },
  });
}

/** Resolves once the slave's log ends where the master's does. */
export function caughtUp(master: PairNode, slave: PairNode): Promise<unknown> {
  return eventually(
    () =>
      slave.controller.messageStore.maxPhyOffset ===
        master.controller.messageStore.maxPhyOffset,
    { message: "the slave has caught up" },
  );
}

/** The bytes of the commit log from `from` to its end, as the files have them. */
export function logBytes(node: PairNode, from = 0): Uint8Array {
  const store = node.controller.messageStore;
  const size = store.options.mappedFileSizeCommitLog;
  const bytes = new Uint8Array(store.maxPhyOffset - from);
  const directory = `${node.folder}/commitlog`;
  for (const name of readdirSync(directory).sort()) {
    const start = Number(name);
    const file = readFileSync(`${directory}/${name}`);
    for (
      let at = Math.max(start, from);
      at < Math.min(start + size, store.maxPhyOffset);
      at++
    ) bytes[at - from] = file[at - start]!;
  }
  return bytes;
}

/** Sends `count` messages over one connection; the codes of the answers. */
export async function sends(
  node: PairNode,
  count: number,
  size = 1024,
): Promise<number[]> {
  const client = await RawClient.open(node.address);
  const answers = await Promise.all(
    Array.from(
      { length: count },
      (_, index) =>
        client.send("T", index % 4, new Uint8Array(size).fill(index)),
    ),
  );
  client.close();
  return answers.map((it) => it.code);
}

export async function stopAll(...nodes: PairNode[]): Promise<void> {
  for (const it of nodes) await it.controller.stop();
}
