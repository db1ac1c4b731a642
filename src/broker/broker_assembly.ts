/** BrokerAssembly: makes the parts of one broker fit together; called once its ports are bound. */
import type { HACoordinator } from "../ha/ha_coordinator.ts";
import type { HAOptions } from "../ha/ha_options.ts";
import type { Clock } from "../io/clock.ts";
import type { FileSystem } from "../io/file_system.ts";
import type { Host } from "../io/host.ts";
import type { Logger } from "../io/logger.ts";
import type { Network } from "../io/network.ts";
import type { Random } from "../io/random.ts";
import { MessageClientIDSetter } from "../model/message_client_id_setter.ts";
import type { ServerTls, TlsSource } from "../remoting/entrance/tls_ports.ts";
import type { RemotingClient } from "../remoting/remoting_client.ts";
import type {
  RemotingClientOptions,
  RemotingServerOptions,
} from "../remoting/remoting_options.ts";
import type { ProcessorGuard } from "../remoting/request_processor.ts";
import type { RpcStats } from "../remoting/rpc_stats.ts";
import type { MessageStore } from "../store/message_store.ts";
import type { MessageStoreOptions } from "../store/store_options.ts";
import { type BrokerAddresses, joinHostPort } from "./broker_addresses.ts";
import type { BrokerOptions } from "./broker_options.ts";
import { type BrokerIdentity, BrokerOuterAPI } from "./broker_outer_api.ts";
import type { BrokerMetadata } from "./broker_metadata.ts";
import { BrokerParts } from "./broker_parts.ts";
import type { BoundPorts } from "./broker_ports.ts";
import { BrokerRegistration } from "./broker_registration.ts";
import type { HAFence } from "./ha_fence.ts";
import { assembleHA, assembleMetadata } from "./ha_assembly.ts";
import { assembleFence } from "./ha_fence_assembly.ts";
import { HANeighbours } from "./ha_neighbours.ts";
import { haRoleOf } from "./ha_role_answer.ts";
import type { HARoleFile, HARoleRecord } from "./ha_role_file.ts";
import type { RoleChangeBoard } from "./role_change/role_change_board.ts";
import type { BrokerConfiguration } from "./processor/config_admin_processor.ts";
import { assemblePop } from "./pop/pop_assembly.ts";
import type { PopService } from "./pop/pop_service.ts";
import { BrokerProcessors } from "./processor_table.ts";
import type { DeferredDelivery } from "./deferred_delivery.ts";
import { assembleSchedule } from "./schedule_assembly.ts";
import type { ShutdownGate } from "./shutdown_gate.ts";

/** The outside world of a broker. */
export interface BrokerPorts {
  readonly network: Network;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly fileSystem: FileSystem;
  readonly host: Host;
  /** What codes 25 and 26 show and change. */
  readonly configuration: BrokerConfiguration;
  /** Access control; absent: everybody may everything. */
  readonly guard?: ProcessorGuard | undefined;
  /** Of accepted connections; absent: they are plain. */
  readonly serverTls?: ServerTls | undefined;
  /** Of own connections; absent: they are plain. */
  readonly clientTls?: TlsSource | undefined;
}

/** One slice per room. */
export interface BrokerControllerOptions {
  readonly broker: BrokerOptions;
  readonly store: MessageStoreOptions;
  readonly ha: HAOptions;
  readonly remotingServer: RemotingServerOptions;
  readonly remotingClient: RemotingClientOptions;
}

/** A bound port, as start-up lines show it. */
export interface BrokerListener {
  readonly name: "broker" | "vip" | "ha";
  /** `host:port` as bound. */
  readonly bound: string;
  /** `host:port` as told to others. */
  readonly advertised: string;
  /** Why that address was chosen. */
  readonly why: string;
}

/** What exists between start and stop. */
export interface RunningBroker {
  /** In force, with ports, names and addresses filled in. */
  readonly options: BrokerControllerOptions;
  readonly identity: BrokerIdentity;
  readonly listeners: readonly BrokerListener[];
  readonly parts: BrokerParts;
  readonly processors: BrokerProcessors;
  readonly registration: BrokerRegistration;
  readonly ha: HACoordinator;
  readonly neighbours: HANeighbours;
  readonly metadata: BrokerMetadata;
  readonly fence: HAFence;
  readonly schedule: DeferredDelivery;
  readonly pop: PopService;
}

/** The options with what only the bound ports and the host can tell. */
export function resolveOptions(
  options: BrokerControllerOptions,
  bound: BoundPorts,
  addresses: BrokerAddresses,
  host: Host,
): BrokerControllerOptions {
  return {
    ...options,
    broker: {
      ...options.broker,
      brokerName: options.broker.brokerName || host.hostname(),
      listenPort: bound.broker.port,
      haListenPort: bound.ha.port,
      brokerIP1: addresses.brokerIP1,
      brokerIP2: addresses.brokerIP2,
    },
  };
}

/** What a run of the broker has before its parts. */
export interface BrokerBase {
  /** Loaded. */
  readonly store: MessageStore;
  readonly client: RemotingClient;
  readonly gate: ShutdownGate;
  readonly bound: BoundPorts;
  readonly addresses: BrokerAddresses;
  readonly haRoleFile: HARoleFile;
  /** Of the remoting server, by code. */
  readonly requests: ReadonlyMap<number, RpcStats>;
  /** Changes of role under way in this pair. */
  readonly roleChanges: RoleChangeBoard;
  /** What that file holds now; null: the configuration decides the role. */
  haRole(): HARoleRecord | null;
}

/** Reads the tables and wires everything; `options` are resolved and hold the role in force. */
export function assembleBroker(
  ports: BrokerPorts,
  options: BrokerControllerOptions,
  base: BrokerBase,
): RunningBroker {
  const { clock, fileSystem, host, logger, random } = ports;
  const { broker } = options;
  const { addresses, bound, client, gate, store } = base;
  const parts = new BrokerParts(ports, broker, store, base.haRoleFile.file);
  parts.load();
  if (broker.brokerRole !== "SLAVE") parts.takeEpoch(base.haRole()?.epoch ?? 0);
  const identity = identityOf(broker);
  const ha: HACoordinator = assembleHA(
    ports,
    options,
    store,
    client,
    identity,
    {
      namesrvAddrs: () => registration.namesrvAddrs,
      askForMaster: () => registration.registerAgain(),
      onMasterRole: (role) => fence.onFollowedRole(ha.masterRole = role),
    },
  );
  const metadata = assembleMetadata(
    ports,
    broker,
    parts,
    client,
    ha,
    () => fence,
  );
  const registration: BrokerRegistration = new BrokerRegistration(
    {
      outerAPI: new BrokerOuterAPI(client),
      topics: parts.topicConfigManager,
      clock,
      logger: logger.child("namesrv"),
      fence: {
        get isOpen() {
          return fence.isOpen;
        },
        confirm: (namesrvAddr) => fence.confirm(namesrvAddr),
        isShownAt: (namesrvAddr) => fence.isShownAt(namesrvAddr),
      },
      onRegistered: (result) => ha.onRegistered(result),
    },
    identity,
    broker,
  );
  const fence: HAFence = assembleFence(ports, base, broker.storePathRootDir, {
    ha,
    identity,
    metadata,
    registration,
  });
  const schedule = assembleSchedule(ports, broker, parts, ha, () => fence);
  const storeHost = {
    address: addresses.storeAddress,
    port: broker.listenPort,
  };
  const pop = assemblePop(parts, broker, {
    clock,
    random,
    logger,
    client,
    ha,
    fence,
    gate,
    storeHost,
    namesrvAddrs: () => registration.namesrvAddrs,
  });
  const processors = new BrokerProcessors(
    parts,
    {
      clock,
      random,
      logger,
      storeHost,
      uniqIds: new MessageClientIDSetter(storeHost.address, host.pid, random),
      gate,
      ha,
      metadata,
      fence,
      schedule,
      pop,
      haRole: () =>
        haRoleOf(
          ha,
          parts,
          identity,
          base.haRole(),
          fence.slaveAddresses,
          base.roleChanges.own?.kind ?? "",
        ),
      hearRoleChange: (notice) => {
        if (notice.brokerName !== identity.brokerName) return null;
        return base.roleChanges.hear(notice, clock.monotonicMs());
      },
      configuration: ports.configuration,
      registerChanges: () => registration.registerChanges(),
      requests: base.requests,
      diskSpace: () => fileSystem.diskSpace(broker.storePathRootDir),
    },
    broker,
    options.store,
  );
  const neighbours = new HANeighbours({
    client,
    clock,
    logger: logger.child("ha"),
    identity,
    namesrvAddrs: () => registration.namesrvAddrs,
    epoch: () => base.haRole()?.epoch ?? 0,
    isWithoutMaster: () => ha.role === "SLAVE" && ha.haMasterAddress === null,
    onWarning: (warning) => {
      ha.neighbourWarning = warning;
    },
  });
  const listeners = listenersOf(bound, addresses);
  return {
    options,
    identity,
    listeners,
    parts,
    processors,
    registration,
    ha,
    metadata,
    neighbours,
    fence,
    schedule,
    pop,
  };
}

function identityOf(broker: BrokerOptions): BrokerIdentity {
  return {
    clusterName: broker.brokerClusterName,
    brokerName: broker.brokerName,
    brokerAddr: joinHostPort(broker.brokerIP1, broker.listenPort),
    brokerId: broker.brokerId,
    haServerAddr: joinHostPort(broker.brokerIP2, broker.haListenPort),
    heartbeatTimeoutMillis: broker.brokerNotActiveTimeoutMillis,
  };
}

function listenersOf(
  bound: BoundPorts,
  { brokerIP1, brokerIP2, why, whyIP2 }: BrokerAddresses,
): BrokerListener[] {
  const all = [
    ["broker", bound.broker, brokerIP1, why],
    ["vip", bound.vip, brokerIP1, why],
    ["ha", bound.ha, brokerIP2, whyIP2],
  ] as const;
  return all.map(([name, { hostname, port }, host, reason]) => ({
    name,
    bound: joinHostPort(hostname, port),
    advertised: joinHostPort(host, port),
    why: reason,
  }));
}
