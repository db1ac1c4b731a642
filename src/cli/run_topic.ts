/** The work of `pocketmq topic`. */
import {
  isDlqTopic,
  isRetryTopic,
  replyTopicOf,
} from "../model/topic_names.ts";
import type { TopicConfig } from "../model/topic_config.ts";
import { isSystemTopic, topicError } from "../model/validators.ts";
import type { ClusterInfo } from "../protocol/body/cluster_info.ts";
import { type CliContext, printLine } from "./cli_context.ts";
import { CliError } from "./cli_error.ts";
import { targetOf, withAdmin } from "./client_session.ts";
import type { ClientFlags } from "./options.ts";
import { printJson, printRows } from "./output.ts";
import { timeText } from "./time.ts";
import type {
  CreateTopicFlags,
  ListTopicFlags,
  TargetFlags,
} from "./topic_command.ts";
import { unknownTopic } from "../client/mq_client_error.ts";

/** `topic list`. */
export async function listTopics(
  context: CliContext,
  flags: ListTopicFlags,
): Promise<void> {
  await withAdmin(context, flags, async (admin) => {
    const all = await admin.topics.list();
    const topics = flags.all === true
      ? all
      : all.filter(ownTopics(await admin.cluster.info()));
    if (flags.json === true) printJson(context, topics);
    else for (const topic of topics) printLine(context, topic);
  });
}

/** Neither the system's, nor one that every cluster and broker has, nor made by retries. */
function ownTopics(cluster: ClusterInfo): (topic: string) => boolean {
  const others = new Set(cluster.brokerAddrTable.keys());
  for (const name of cluster.clusterAddrTable.keys()) {
    others.add(name).add(replyTopicOf(name));
  }
  return (topic) =>
    !others.has(topic) && !isSystemTopic(topic) && !isRetryTopic(topic) &&
    !isDlqTopic(topic);
}

/** `topic show`. */
export async function showTopic(
  context: CliContext,
  topic: string,
  flags: ClientFlags,
): Promise<void> {
  await withAdmin(context, flags, async (admin) => {
    const queues = await admin.topics.status(topic);
    const configs = await admin.topics.config(topic);
    printRows(
      context,
      flags,
      ["BROKER", "QUEUE", "MIN", "MAX", "LAST MESSAGE"],
      queues.map((it) => [
        it.queue.brokerName,
        it.queue.queueId,
        it.minOffset,
        it.maxOffset,
        timeText(it.lastUpdateTimestamp),
      ]),
      {
        topic,
        brokers: configs.map(({ brokerName, config }) => ({
          brokerName,
          ...config,
        })),
        queues: queues.map(({ queue, ...offsets }) => ({
          brokerName: queue.brokerName,
          queueId: queue.queueId,
          ...offsets,
        })),
      },
    );
  });
}

/** `topic route`. */
export async function routeOfTopic(
  context: CliContext,
  topic: string,
  flags: ClientFlags,
): Promise<void> {
  await withAdmin(context, flags, async (admin) => {
    const route = await admin.topics.route(topic);
    if (route === undefined) {
      throw unknownTopic(topic);
    }
    const rows = route.queueDatas.map((queues) => {
      const broker = route.brokerDatas.find((it) =>
        it.brokerName === queues.brokerName
      );
      return { queues, broker };
    });
    printRows(
      context,
      flags,
      ["BROKER", "ADDRESSES", "READ", "WRITE", "PERM"],
      rows.map(({ queues, broker }) => [
        queues.brokerName,
        [...broker?.brokerAddrs ?? []].map(([id, it]) => `${id}=${it}`)
          .join(" "),
        queues.readQueueNums,
        queues.writeQueueNums,
        queues.perm,
      ]),
      { topic, ...route },
    );
  });
}

/** `topic create`. */
export async function createTopic(
  context: CliContext,
  topic: string,
  flags: CreateTopicFlags,
): Promise<void> {
  const wrong = topicError(topic);
  if (wrong !== undefined) throw new CliError(wrong, 2);
  const config: TopicConfig = {
    topicName: topic,
    readQueueNums: flags.readQueues ?? flags.queues,
    writeQueueNums: flags.writeQueues ?? flags.queues,
    perm: flags.perm,
    topicFilterType: "SINGLE_TAG",
    topicSysFlag: 0,
    order: flags.order === true,
    attributes: {},
  };
  await withAdmin(context, flags, async (admin) => {
    const brokers = await admin.topics.create(config, targetOf(flags));
    printDone(context, flags, `topic ${topic} is on`, { topic, brokers });
  });
}

/** `topic delete`. */
export async function deleteTopic(
  context: CliContext,
  topic: string,
  flags: TargetFlags,
): Promise<void> {
  if (isSystemTopic(topic)) {
    throw new CliError(
      `Cannot delete topic ${topic}: it belongs to the system; name a topic of your own`,
      2,
    );
  }
  await withAdmin(context, flags, async (admin) => {
    if (await admin.topics.route(topic) === undefined) {
      throw unknownTopic(topic);
    }
    const brokers = await admin.topics.delete(topic, targetOf(flags));
    printDone(context, flags, `topic ${topic} is deleted on`, {
      topic,
      brokers,
    });
  });
}

/** One line with the brokers that took a change. */
export function printDone(
  context: CliContext,
  flags: { readonly json?: boolean },
  sentence: string,
  json: Readonly<Record<string, unknown>> & {
    readonly brokers: readonly string[];
  },
): void {
  if (flags.json === true) printJson(context, json);
  else printLine(context, `${sentence} ${json.brokers.join(", ")}`);
}
