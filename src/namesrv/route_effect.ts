/** What RouteInfoManager answers and wants done. */
import type { NotifyMinBrokerIdHeader } from "../protocol/header/notify_min_broker_id_header.ts";
import type { RegisterBrokerResponseHeader } from "../protocol/header/register_broker_header.ts";
import type { BrokerGroup } from "./broker_group_table.ts";
import { minBrokerIdOf } from "./route_pickup.ts";

/** What the shell has to do. */
export type RouteEffect =
  | { kind: "closeConnection"; connectionId: number }
  | { kind: "notify"; brokerAddr: string; header: NotifyMinBrokerIdHeader }
  | { kind: "log"; level: "info" | "warn"; message: string };

/** How a registration ended. `ignored`: a newer epoch holds the id; answered like success. */
export type RegisterBrokerResult =
  | {
    readonly kind: "registered";
    readonly header: RegisterBrokerResponseHeader;
    readonly effects: readonly RouteEffect[];
  }
  | {
    readonly kind: "ignored";
    readonly reason: string;
    readonly effects: readonly RouteEffect[];
  }
  | { readonly kind: "refused"; readonly reason: string };

/**
 * Who is told of a new smallest id: after a loss everybody, after an arrival
 * everybody but the newcomer.
 */
export function minBrokerIdNotices(
  group: BrokerGroup,
  offlineBrokerAddr: string | undefined,
  haBrokerAddr: string,
): RouteEffect[] {
  const minBrokerId = minBrokerIdOf(group.brokerAddrs)!;
  const header: NotifyMinBrokerIdHeader = {
    minBrokerId,
    brokerName: group.brokerName,
    minBrokerAddr: group.brokerAddrs.get(minBrokerId),
    offlineBrokerAddr,
    haBrokerAddr,
  };
  const isLoss = offlineBrokerAddr !== undefined;
  return [...group.brokerAddrs]
    .filter(([id]) =>
      isLoss || id !== minBrokerId || group.brokerAddrs.size === 1
    )
    .map(([, brokerAddr]) => ({ kind: "notify", brokerAddr, header }));
}
