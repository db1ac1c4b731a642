/** HALife: one process of a simulated broker, wired from the product's parts as a broker wires them. */
import type { BrokerIdentity } from "../../src/broker/broker_outer_api.ts";
import { HAFence } from "../../src/broker/ha_fence.ts";
import { HAMasterProbe } from "../../src/broker/ha_master_probe.ts";
import { HAPeersFile } from "../../src/broker/ha_peers_file.ts";
import { haStatusProcessors } from "../../src/broker/processor/ha_status_processor.ts";
import { logDigestProcessors } from "../../src/broker/processor/log_digest_processor.ts";
import type { HAClientService } from "../../src/ha/ha_client_service.ts";
import { HACoordinator, type HARole } from "../../src/ha/ha_coordinator.ts";
import type { HAService } from "../../src/ha/ha_service.ts";
import { hostOf } from "../../src/ha/ha_strangers.ts";
import type { MasterProbe } from "../../src/ha/master_probe.ts";
import type { ReplicatedStore } from "../../src/ha/replicated_store.ts";
import type { Clock } from "../../src/io/clock.ts";
import type {
  Connection,
  ConnectionEvents,
  Network,
} from "../../src/io/network.ts";
import type { ProcessorTable } from "../../src/remoting/request_processor.ts";
import { JsonFile } from "../../src/store/json_file.ts";
import type { MessageStore } from "../../src/store/message_store.ts";
import { wasReseeded } from "../../src/store/store_aside.ts";
import type { HALifeClock } from "./ha_life_clock.ts";
import type { HANode } from "./ha_node.ts";
import {
  BROKER_NAME,
  CLUSTER_NAME,
  HA_PORT,
  HARemoting,
  REMOTING_PORT,
} from "./ha_remoting.ts";

/** What one process may touch; ends with it. */
export interface HALife {
  readonly store: MessageStore;
  readonly role: HARole;
  readonly ha: HACoordinator;
  readonly fence: HAFence;
  /** Answers over remoting. */
  readonly processors: ProcessorTable;
  /** The master's side; slaves have one too. */
  readonly service: HAService;
  /** Null for a master. */
  readonly client: HAClientService | null;
  readonly puts: ReplicatedStore;
  isOver: boolean;
}

/** The parts of a process of `node`, whose store is open. */
export function assembleLife(
  node: HANode,
  store: MessageStore,
  clock: HALifeClock,
  role: HARole,
): HALife {
  const life = { store, role, isOver: false } as Assembled;
  const identity: BrokerIdentity = {
    clusterName: CLUSTER_NAME,
    brokerName: BROKER_NAME,
    brokerAddr: node.address,
    haServerAddr: `${node.options.host}:${HA_PORT}`,
    brokerId: role === "SLAVE" ? 1 : 0,
    heartbeatTimeoutMillis: 20_000,
  };
  const client = new HARemoting(node.world, node.options.host, clock);
  life.ha = coordinatorOf(node, life, { clock, client, identity });
  life.service = life.ha.service;
  life.client = role === "SLAVE" ? life.ha.client : null;
  life.puts = life.ha.store;
  life.fence = fenceOf(node, life, { clock, client, identity });
  life.processors = new Map([
    ...logDigestProcessors(life),
    ...haStatusProcessors({
      ha: life.ha,
      fence: life.fence,
      hearRoleChange: () => null,
      haRole: () => ({
        role,
        brokerId: identity.brokerId,
        brokerName: BROKER_NAME,
        epoch: role === "SLAVE"
          ? life.fence.highestEpoch
          : node.record?.epoch ?? 0,
        promotedAtOffset: node.record?.promotedAtOffset ?? 0,
        minOffset: store.minPhyOffset,
        maxOffset: store.maxPhyOffset,
        haAddress: identity.haServerAddr,
        slaves: life.fence.slaveAddresses,
        roleChange: "",
      }),
    }),
  ]);
  return life;
}

type Assembled = { -readonly [P in keyof HALife]: HALife[P] };

interface Outside {
  readonly clock: Clock;
  readonly client: HARemoting;
  readonly identity: BrokerIdentity;
}

function coordinatorOf(
  node: HANode,
  life: Assembled,
  { clock, client, identity }: Outside,
): HACoordinator {
  const { logger, options, world } = node;
  const { role, store } = life;
  const log = options.wrapLog?.(store.replicaLog, clock) ?? store.replicaLog;
  const probe: MasterProbe = new HAMasterProbe({
    client,
    log,
    logger,
    identity,
    masterAddressOf: remotingOf,
    isAddressDerived: () => false,
    haBootstrap: () =>
      wasReseeded(node.disk, store.options) ? "min" : options.bootstrap(),
    onMasterRole() {},
    onFileSizeAdopted() {},
    isFileSizeExplicit: true,
    selectOneMessageByOffset: (it) => store.selectOneMessageByOffset(it),
  });
  const master = options.master === null ? "" : `${options.master}:${HA_PORT}`;
  return new HACoordinator(
    {
      network: networkOf(node, life),
      clock,
      random: world.random,
      logger,
      log,
      store,
      probe: options.wrapProbe?.(probe) ?? probe,
      haAddress: identity.haServerAddr,
      masterAddressOf: (it) => it === null ? null : remotingOf(it),
      admit: () => null,
      askForMaster() {},
      onReplicated: (offset) => void (store.replicatedOffset = offset),
    },
    role,
    {
      ...options.ha,
      haMasterAddress: node.record?.haMasterAddress ?? master,
    },
  );
}

function remotingOf(haAddress: string): string {
  return `${hostOf(haAddress)}:${REMOTING_PORT}`;
}

function fenceOf(
  node: HANode,
  { ha, role }: Assembled,
  { clock, client, identity }: Outside,
): HAFence {
  const { disk, logger, options, record } = node;
  const path = `${options.store.storePathRootDir}/config/haPeers.json`;
  const file = new JsonFile(disk, path, logger, "same");
  const peers = new HAPeersFile({ clock, logger, file });
  peers.load();
  return new HAFence({
    client,
    clock,
    logger,
    identity,
    epoch: record?.epoch ?? 0,
    promotedAtOffset: record?.promotedAtOffset ?? 0,
    peers,
    isMaster: () => role !== "SLAVE",
    namesrvAddrs: () => [],
    slaveCount: () => ha.slaveCount,
    followedMaster: () => ha.client.isTransferring ? ha.masterAddress : null,
    onFenced: (reason) => ha.fence(reason),
  });
}

/** What a process sees of the network. */
export function networkOf(
  { options, world }: HANode,
  life: { readonly isOver: boolean },
): Network {
  const network = world.network.host(options.host);
  const events = (inner: ConnectionEvents, end: () => void) =>
    options.wrapEvents?.(inner, end) ?? inner;
  const wrap = (it: Connection) => options.wrapConnection?.(it) ?? it;
  return {
    listen: (at, accept) =>
      network.listen(
        at,
        (it) => events(accept(wrap(it)), () => it.terminate()),
      ),
    connect: async (to, inner) => {
      let made: Connection | null = null;
      const outer = events(inner, () => made?.terminate());
      made = await network.connect(to, outer);
      if (!life.isOver) return wrap(made);
      made.terminate(); // The process is gone: the kernel resets.
      return await new Promise(() => {});
    },
  };
}
