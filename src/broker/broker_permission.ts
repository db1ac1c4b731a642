/** withBrokerPermission: what brokerPermission takes away from every topic (reference 10.3). */
import { PermName, type TopicConfig } from "../model/topic_config.ts";

const READ_WRITE = PermName.READ | PermName.WRITE;

/** `topics` with the permissions that `brokerPermission` leaves them. */
export function withBrokerPermission(
  topics: ReadonlyMap<string, TopicConfig>,
  brokerPermission: number,
): ReadonlyMap<string, TopicConfig> {
  if ((brokerPermission & READ_WRITE) === READ_WRITE) return topics;
  const masked = new Map<string, TopicConfig>();
  for (const [name, it] of topics) {
    masked.set(name, { ...it, perm: it.perm & brokerPermission });
  }
  return masked;
}
