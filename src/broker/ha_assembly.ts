/** Makes the parts of replication fit together: the log's and the tables'. */
import { HACoordinator } from "../ha/ha_coordinator.ts";
import type { RemotingClient } from "../remoting/remoting_client.ts";
import type { MessageStore } from "../store/message_store.ts";
import { wasReseeded } from "../store/store_aside.ts";
import type {
  BrokerControllerOptions,
  BrokerPorts,
} from "./broker_assembly.ts";
import { BrokerMetadata } from "./broker_metadata.ts";
import type { BrokerOptions } from "./broker_options.ts";
import type { BrokerIdentity } from "./broker_outer_api.ts";
import type { BrokerParts } from "./broker_parts.ts";
import type { HAFence } from "./ha_fence.ts";
import { rememberSlave } from "./ha_fence_assembly.ts";
import { HAMasterProbe } from "./ha_master_probe.ts";
import { HASlaveSizes } from "./ha_slave_sizes.ts";
import {
  isAddressDerived,
  masterAddressesOf,
  metadataAddressOf,
} from "./metadata_address.ts";

/** Parts by which a slave's tables follow its master's. */
export function assembleMetadata(
  { clock, guard, logger }: BrokerPorts,
  broker: BrokerOptions,
  parts: BrokerParts,
  client: RemotingClient,
  ha: HACoordinator,
  fence: () => HAFence,
): BrokerMetadata {
  return new BrokerMetadata({
    parts,
    client,
    clock,
    logger: logger.child("metadata"),
    auth: guard?.table,
    isSlave: () => ha.role === "SLAVE",
    masterAddress: () =>
      metadataAddressOf(masterAddressesOf(ha, ha.haMasterAddress)),
    refusal: metadataRefusal(ha),
    fencedReason: () => fence().fencedReason,
    onSlave: (brokerAddr, connection) =>
      rememberSlave(fence(), ha, brokerAddr, connection),
  }, broker);
}

/**
 * Tables follow a master only while the link lives on which its log was found to be this slave's:
 * they delete topics, and those of a master that came back without its store would delete all.
 */
export function metadataRefusal(
  ha: { readonly client: Pick<HACoordinator["client"], "view"> },
): () => string | null {
  return () => {
    const { reason, state } = ha.client.view();
    if (state === "TRANSFER") return null;
    return reason ?? "The logs have not been compared yet";
  };
}

/** Replication, and what it asks other brokers. */
export function assembleHA(
  ports: BrokerPorts,
  { broker, ha: options }: BrokerControllerOptions,
  store: MessageStore,
  client: RemotingClient,
  identity: BrokerIdentity,
  neighbourhood: {
    namesrvAddrs(): readonly string[];
    askForMaster(): void;
    onMasterRole(role: string): void;
  },
): HACoordinator {
  const { logger } = ports;
  const known = (haAddress: string | null) => masterAddressesOf(ha, haAddress);
  const masterAddressOf = (haAddress: string | null): string | null =>
    metadataAddressOf(known(haAddress));
  const probe: HAMasterProbe = new HAMasterProbe({
    client,
    log: store.replicaLog,
    logger: logger.child("ha"),
    masterAddressOf,
    isAddressDerived: (haAddress) => isAddressDerived(known(haAddress)),
    identity,
    haBootstrap: () =>
      wasReseeded(ports.fileSystem, store.options)
        ? "min"
        : ha.options.haBootstrap,
    onMasterRole: neighbourhood.onMasterRole,
    onFileSizeAdopted: (mappedFileSizeCommitLog) =>
      ports.configuration.found?.(
        { mappedFileSizeCommitLog },
        "as its master has it",
      ),
    isFileSizeExplicit: store.options.explicitKeys.includes(
      "mappedFileSizeCommitLog",
    ),
    selectOneMessageByOffset: (offset) =>
      store.selectOneMessageByOffset(offset),
  });
  const slaveSizes = new HASlaveSizes({
    client,
    clock: ports.clock,
    identity,
    namesrvAddrs: neighbourhood.namesrvAddrs,
    mappedFileSize: () => store.replicaLog.mappedFileSize,
  });
  const ha: HACoordinator = new HACoordinator(
    {
      ...ports,
      log: store.replicaLog,
      store,
      probe,
      admit: (addr) => slaveSizes.admit(addr),
      haAddress: identity.haServerAddr,
      masterAddressOf,
      askForMaster: neighbourhood.askForMaster,
      onReplicated: (offset) => {
        // What has been seen stays seen, also when the slave that had it leaves.
        if (offset > store.replicatedOffset) store.replicatedOffset = offset;
      },
    },
    broker.brokerRole,
    options,
  );
  store.slaveNeedsFrom = () => ha.service.slaveNeedsFrom;
  return ha;
}
