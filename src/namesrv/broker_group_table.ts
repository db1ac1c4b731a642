/**
 * BrokerGroupTable: the brokers of each name, and the names of each cluster.
 *
 * Invariants
 * - A name belongs to one cluster; a group without addresses is not kept.
 */
import type {
  BrokerMemberGroup,
  ClusterInfo,
} from "../protocol/body/cluster_info.ts";
import type { BrokerData } from "../protocol/body/topic_route_data.ts";

/** BrokerData that registrations change. */
export interface BrokerGroup extends BrokerData {
  readonly brokerAddrs: Map<number, string>;
  enableActingMaster: boolean;
  zoneName: string | null;
}

/** Groups by broker name. */
export class BrokerGroupTable {
  readonly #groups = new Map<string, BrokerGroup>();
  readonly #namesByCluster = new Map<string, Set<string>>();

  get(brokerName: string): BrokerGroup | undefined {
    return this.#groups.get(brokerName);
  }

  brokerNames(): string[] {
    return [...this.#groups.keys()];
  }

  clusterNames(): string[] {
    return [...this.#namesByCluster.keys()];
  }

  brokerNamesOf(cluster: string): string[] {
    return [...this.#namesByCluster.get(cluster) ?? []];
  }

  /** The group of a name, made in `cluster` when there is none. */
  ensure(brokerName: string, cluster: string): BrokerGroup {
    const found = this.#groups.get(brokerName);
    if (found !== undefined) return found;
    const group: BrokerGroup = {
      cluster,
      brokerName,
      brokerAddrs: new Map(),
      enableActingMaster: false,
      zoneName: null,
    };
    this.#groups.set(brokerName, group);
    const names = this.#namesByCluster.get(cluster);
    if (names === undefined) {
      this.#namesByCluster.set(cluster, new Set([brokerName]));
    } else names.add(brokerName);
    return group;
  }

  delete(group: BrokerGroup): void {
    if (!this.#groups.delete(group.brokerName)) return;
    const names = this.#namesByCluster.get(group.cluster)!;
    names.delete(group.brokerName);
    if (names.size === 0) this.#namesByCluster.delete(group.cluster);
  }

  clusterInfo(): ClusterInfo {
    const clusterAddrTable = new Map<string, readonly string[]>();
    for (const [cluster, names] of this.#namesByCluster) {
      clusterAddrTable.set(cluster, [...names]);
    }
    return { brokerAddrTable: this.#groups, clusterAddrTable };
  }

  /** The brokers of a name; without addresses when that cluster has no such name. */
  memberGroup(cluster: string, brokerName: string): BrokerMemberGroup {
    const group = this.#groups.get(brokerName);
    const brokerAddrs = group?.cluster === cluster
      ? group.brokerAddrs
      : new Map<number, string>();
    return { cluster, brokerName, brokerAddrs };
  }
}
