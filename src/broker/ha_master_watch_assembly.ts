/** HAMasterWatchAssembly: what a slave remembers of its master, wired to its replication. */
import type { Clock } from "../io/clock.ts";
import type { RunningBroker } from "./broker_assembly.ts";
import type { OuterClient } from "./broker_outer_api.ts";
import { HAMasterWatch } from "./ha_master_watch.ts";
import { HAPeerInquiry } from "./ha_peer_inquiry.ts";

/** One per run of a broker. */
export function watchMaster(
  clock: Clock,
  client: OuterClient,
  running: () => RunningBroker,
): HAMasterWatch {
  const inquiry = new HAPeerInquiry(client);
  return new HAMasterWatch({
    clock,
    followedMaster: () => {
      const { ha } = running();
      return ha.client.isTransferring ? ha.masterAddress : null;
    },
    askOne: (address) => inquiry.askOne(address),
    maxOffset: () => running().parts.messageStore.maxPhyOffset,
    onAnswer: ({ role, slaves }) => {
      const { fence, ha } = running();
      fence.onFollowedRole(ha.masterRole = role);
      for (const it of slaves) fence.remember(it);
    },
  });
}
