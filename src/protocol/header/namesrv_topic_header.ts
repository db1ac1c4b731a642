/** Request headers of the name server's topic and permission codes (reference 2.9). */
import type { ExtFields } from "../remoting_command.ts";
import { optionalText, requireText } from "./field_reader.ts";

/** DELETE_TOPIC_IN_NAMESRV (216) and REGISTER_TOPIC_IN_NAMESRV (217). */
export interface NamesrvTopicHeader {
  readonly topic: string;
  /** Only brokers of this cluster; undefined means all. */
  readonly clusterName: string | undefined;
}

/** Reads the header of 216 and 217; throws `HeaderError`. */
export function decodeNamesrvTopicHeader(
  fields: ExtFields,
): NamesrvTopicHeader {
  return {
    topic: requireText(fields, "topic", "NamesrvTopicHeader"),
    clusterName: optionalText(fields, "clusterName") || undefined,
  };
}

/** Reads `brokerName` of WIPE_WRITE_PERM (205) and ADD_WRITE_PERM (327). */
export function decodeWritePermHeader(fields: ExtFields): string {
  return requireText(fields, "brokerName", "WritePermOfBrokerRequestHeader");
}

/** Reads `cluster` of GET_TOPICS_BY_CLUSTER (224). */
export function decodeTopicsByClusterHeader(fields: ExtFields): string {
  return requireText(fields, "cluster", "GetTopicsByClusterRequestHeader");
}

/** Reads the names of GET_BROKER_MEMBER_GROUP (901). */
export function decodeBrokerMemberGroupHeader(
  fields: ExtFields,
): { clusterName: string; brokerName: string } {
  const name = "GetBrokerMemberGroupRequestHeader";
  return {
    clusterName: requireText(fields, "clusterName", name),
    brokerName: requireText(fields, "brokerName", name),
  };
}
