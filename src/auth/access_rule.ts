/** AccessRule: what a request code wants of which topics, groups, or of the cluster. */
import { normalTopicOf } from "../model/pop_retry_topic.ts";
import { groupOfRetryTopic, isRetryTopic } from "../model/topic_names.ts";
import type {
  ExtFields,
  RemotingCommand,
} from "../protocol/remoting_command.ts";

/** What may be done, in 5.x's words. */
export type Action =
  | "PUB"
  | "SUB"
  | "CREATE"
  | "UPDATE"
  | "DELETE"
  | "GET"
  | "LIST";

/** A topic, a group, or the cluster, which is named by the broker's configuration. */
export type AccessResource =
  | { readonly kind: "Topic" | "Group"; readonly name: string }
  | { readonly kind: "Cluster" };

/**
 * How 4.x, which knows PUB and SUB only, takes a rule.
 * - `resources`: PUB or SUB on each topic and group, whichever the rule names.
 * - `signed`: any account.
 * - `admin`: an account with admin=true.
 */
export type PlainAccess = "resources" | "signed" | "admin";

/** The rule of one request code. */
export interface AccessRule {
  /** Any one of them is enough. */
  readonly actions: readonly Action[];
  readonly plain: PlainAccess;
  /**
   * What the request touches. A field that is missing names nothing: its processor refuses it.
   * Throws BodyError.
   */
  resources(request: RemotingCommand): readonly AccessResource[];
}

/** Fields of a header that name topics and groups. */
export interface NamedFields {
  readonly topic?: string;
  readonly group?: string;
}

const CLUSTER: readonly AccessResource[] = [{ kind: "Cluster" }];

/** What is asked of the cluster as a whole. */
export function cluster(
  actions: readonly Action[],
  plain: PlainAccess = plainOf(actions),
): AccessRule {
  return { actions, plain, resources: () => CLUSTER };
}

/** What is asked of the topic and group that fields of the header name. */
export function fields(
  actions: readonly Action[],
  names: NamedFields,
  plain: PlainAccess = plainOf(actions),
): AccessRule {
  return {
    actions,
    plain,
    resources: ({ extFields }) => namedBy(extFields, names),
  };
}

/** What is asked of topics and groups that `read` finds in header or body. */
export function found(
  actions: readonly Action[],
  read: (request: RemotingCommand) => readonly AccessResource[],
  plain: PlainAccess = plainOf(actions),
): AccessRule {
  return { actions, plain, resources: read };
}

/** Any known account may: it touches neither topics nor groups. */
export function anyAccount(): AccessRule {
  return { actions: [], plain: "signed", resources: () => [] };
}

function plainOf(actions: readonly Action[]): PlainAccess {
  if (actions.includes("PUB") || actions.includes("SUB")) return "resources";
  return actions.every((it) => it === "GET" || it === "LIST")
    ? "signed"
    : "admin";
}

function namedBy(
  extFields: ExtFields,
  { group, topic }: NamedFields,
): AccessResource[] {
  const groupName = group === undefined ? undefined : extFields[group];
  const topicName = topic === undefined ? undefined : extFields[topic];
  return [...topicOf(topicName, groupName), ...groupOf(groupName)];
}

/** The retry topic of a group is the group's; one of POP belongs to its topic as well. */
export function topicOf(
  named: string | undefined,
  group?: string,
): AccessResource[] {
  if (named === undefined || named === "") return [];
  const topic = group === undefined ? named : normalTopicOf(named, group);
  return isRetryTopic(topic)
    ? groupOf(groupOfRetryTopic(topic))
    : [{ kind: "Topic", name: topic }];
}

/** A group, which may be named by its retry topic. */
export function groupOf(group: string | undefined): AccessResource[] {
  if (group === undefined || group === "") return [];
  const name = isRetryTopic(group) ? groupOfRetryTopic(group) : group;
  return [{ kind: "Group", name }];
}
