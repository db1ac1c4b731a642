/** HAFenceAssembly: the fence of one broker, wired to its replication and its name servers. */
import type { HACoordinator } from "../ha/ha_coordinator.ts";
import { hostOf } from "../ha/ha_strangers.ts";
import type { RemotingConnection } from "../remoting/request_processor.ts";
import { JsonFile } from "../store/json_file.ts";
import type { BrokerBase, BrokerPorts } from "./broker_assembly.ts";
import type { BrokerMetadata } from "./broker_metadata.ts";
import type { BrokerIdentity } from "./broker_outer_api.ts";
import type { BrokerRegistration } from "./broker_registration.ts";
import { HAFence } from "./ha_fence.ts";
import { HAPeersFile } from "./ha_peers_file.ts";

/** What the fence watches and closes. */
export interface FencedParts {
  readonly identity: BrokerIdentity;
  readonly ha: HACoordinator;
  readonly metadata: BrokerMetadata;
  readonly registration: BrokerRegistration;
}

/** Reads haPeers.json, which lies in `storePathRootDir`. */
export function assembleFence(
  ports: BrokerPorts,
  base: BrokerBase,
  storePathRootDir: string,
  { ha, identity, metadata, registration }: FencedParts,
): HAFence {
  const { clock, fileSystem } = ports;
  const logger = ports.logger.child("ha");
  const path = `${storePathRootDir}/config/haPeers.json`;
  // A former content may lack the rival that was proved last.
  const file = new JsonFile(fileSystem, path, logger, "same");
  const peers = new HAPeersFile({ clock, logger, file });
  peers.load();
  return new HAFence({
    client: base.client,
    clock,
    logger,
    identity,
    epoch: base.haRole()?.epoch ?? 0,
    promotedAtOffset: base.haRole()?.promotedAtOffset ?? 0,
    peers,
    isMaster: () => ha.role !== "SLAVE",
    namesrvAddrs: () => registration.namesrvAddrs,
    slaveCount: () => ha.slaveCount,
    followedMaster: () => metadata.slaveSynchronize.pocketmqMaster,
    onFenced: (reason) => {
      ha.fence(reason);
      void registration.withdraw(reason);
    },
  });
}

/** Only who is let in at the HA port is asked later: others could name any address. */
export function rememberSlave(
  fence: HAFence,
  ha: HACoordinator,
  brokerAddr: string,
  { remoteAddress }: RemotingConnection,
): void {
  if (ha.hasLinkFrom(hostOf(remoteAddress))) fence.rememberSlave(brokerAddr);
}
