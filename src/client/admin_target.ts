/** AdminTarget: which brokers an administrative change goes to. */
import { MQClientError } from "./mq_client_error.ts";
import type { MQClientInstance } from "./mq_client_instance.ts";
import { MASTER_ID } from "./route_queues.ts";

/** One address, the master of a name, the masters of a cluster, or those of the only cluster. */
export interface AdminTarget {
  readonly brokerAddr?: string;
  readonly brokerName?: string;
  readonly clusterName?: string;
}

/** The addresses of a target, sorted. Throws `MQClientError` when it names nothing that lives. */
export async function addressesOf(
  instance: MQClientInstance,
  target: AdminTarget,
): Promise<string[]> {
  if (target.brokerAddr !== undefined) return [target.brokerAddr];
  const { brokerAddrTable, clusterAddrTable } = await instance.namesrv
    .clusterInfoWithBrokers();
  let names: readonly string[];
  if (target.brokerName !== undefined) names = [target.brokerName];
  else {
    const clusters = [...clusterAddrTable.keys()];
    const clusterName = target.clusterName ?? clusters[0];
    if (target.clusterName === undefined && clusters.length > 1) {
      throw new MQClientError(
        `There are several clusters, name one: ${clusters.sort().join(", ")}`,
        null,
      );
    }
    names = clusterAddrTable.get(clusterName ?? "") ?? [];
  }
  const addresses = names.flatMap((it) =>
    brokerAddrTable.get(it)?.brokerAddrs.get(MASTER_ID) ?? []
  );
  if (addresses.length > 0) return addresses.sort();
  const wanted = target.brokerName ?? target.clusterName;
  throw new MQClientError(
    wanted === undefined
      ? "No master broker is registered: start one that names this name server, or give its --broker host:port"
      : `No master broker is registered under ${wanted}: see pocketmq cluster list, or give --broker host:port`,
    null,
  );
}

/** The masters of all clusters. */
export async function allMasters(
  instance: MQClientInstance,
): Promise<{ brokerName: string; address: string }[]> {
  const { brokerAddrTable } = await instance.namesrv
    .clusterInfoWithBrokers();
  return [...brokerAddrTable.values()].flatMap((it) => {
    const address = it.brokerAddrs.get(MASTER_ID);
    return address === undefined
      ? []
      : [{ brokerName: it.brokerName, address }];
  });
}
