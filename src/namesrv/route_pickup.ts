/** What a client is shown of a route: acting masters and zones (reference 7.7, 10.4). */
import { PermName } from "../model/topic_config.ts";
import { SYSTEM_TOPIC_PREFIX } from "../model/topic_names.ts";
import type {
  BrokerData,
  QueueData,
  TopicRouteData,
} from "../protocol/body/topic_route_data.ts";

/** The id of a master. */
export const MASTER_ID = 0;
const SYNC_BROKER_MEMBER_PREFIX = `${SYSTEM_TOPIC_PREFIX}SYNC_BROKER_MEMBER_`;

/** The smallest broker id; undefined without brokers. */
export function minBrokerIdOf(
  brokerAddrs: ReadonlyMap<number, string>,
): number | undefined {
  let min: number | undefined;
  for (const id of brokerAddrs.keys()) {
    if (min === undefined || id < min) min = id;
  }
  return min;
}

/** The route over `queues` (by broker name); undefined when none of those brokers is known. */
export function pickupTopicRouteData(
  queues: ReadonlyMap<string, QueueData>,
  groups: { get(brokerName: string): BrokerData | undefined },
  filterServers: ReadonlyMap<string, readonly string[]>,
): TopicRouteData | undefined {
  const brokerDatas: BrokerData[] = [];
  const filterServerTable = new Map<string, readonly string[]>();
  for (const brokerName of queues.keys()) {
    const group = groups.get(brokerName);
    if (group === undefined) continue;
    brokerDatas.push(group);
    for (const address of group.brokerAddrs.values()) {
      const servers = filterServers.get(address);
      if (servers !== undefined) filterServerTable.set(address, servers);
    }
  }
  if (brokerDatas.length === 0) return undefined;
  return {
    orderTopicConf: null,
    queueDatas: [...queues.values()],
    brokerDatas,
    filterServerTable,
  };
}

/**
 * Shows the smallest slave under id 0 where no master lives, the group has
 * acting master on and its queues are not writable.
 */
export function withActingMasters(
  topic: string,
  route: TopicRouteData,
): TopicRouteData {
  if (topic.startsWith(SYNC_BROKER_MEMBER_PREFIX)) return route;
  const brokerDatas = route.brokerDatas.map((data) => {
    if (!data.enableActingMaster || data.brokerAddrs.has(MASTER_ID)) {
      return data;
    }
    const queues = route.queueDatas.find((it) =>
      it.brokerName === data.brokerName
    );
    const isWritable = ((queues?.perm ?? 0) & PermName.WRITE) !== 0;
    return isWritable ? data : promoteSmallest(data);
  });
  return { ...route, brokerDatas };
}

function promoteSmallest(data: BrokerData): BrokerData {
  const min = minBrokerIdOf(data.brokerAddrs);
  if (min === undefined) return data;
  const brokerAddrs = new Map(data.brokerAddrs);
  brokerAddrs.set(MASTER_ID, brokerAddrs.get(min)!);
  brokerAddrs.delete(min);
  return { ...data, brokerAddrs };
}

/** Leaves the brokers of one zone, and those without a master: they are read from anywhere. */
export function inZone(route: TopicRouteData, zone: string): TopicRouteData {
  const wanted = zone.toLowerCase();
  const brokerDatas = route.brokerDatas.filter((it) =>
    !it.brokerAddrs.has(MASTER_ID) || it.zoneName?.toLowerCase() === wanted
  );
  const names = new Set(brokerDatas.map((it) => it.brokerName));
  const addresses = new Set(
    brokerDatas.flatMap((it) => [...it.brokerAddrs.values()]),
  );
  return {
    ...route,
    brokerDatas,
    queueDatas: route.queueDatas.filter((it) => names.has(it.brokerName)),
    filterServerTable: new Map(
      [...route.filterServerTable].filter(([it]) => addresses.has(it)),
    ),
  };
}
