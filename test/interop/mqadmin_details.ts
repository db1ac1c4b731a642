/** Parts of the compared sequence: a living group that is reset, details, and what is refused. */
import {
  call,
  type ComparedCluster,
  routed,
  until,
} from "./mqadmin_cluster.ts";

const LIVE = "live-group";
const NAME = "name=-live";
const ALL = "DefaultCluster";

/** A group whose only member lives on, while all of a topic is given to it again. */
export class LiveGroup {
  readonly #cluster: ComparedCluster;
  readonly #topic: string;
  readonly #messages: number;

  /** `topic` holds so many `messages`. */
  constructor(cluster: ComparedCluster, topic: string, messages: number) {
    this.#cluster = cluster;
    this.#topic = topic;
    this.#messages = messages;
  }

  /** It consumes everything and is reset. */
  get reset(): string[][] {
    const { namesrv, broker } = this.#cluster;
    const retries = `%RETRY%${LIVE}`;
    return [
      ["updateSubGroup", "-b", broker, "-g", LIVE],
      ["updateTopic", "-b", broker, "-t", retries, "-r", "1", "-w", "1"],
      routed(this.#cluster, retries),
      ["@consume", NAME, `group=${LIVE}`, `namesrv=${namesrv}`]
        .concat(`topic=${this.#topic}`, `count=${this.#messages}`),
      this.#commit,
      until(
        this.#cluster,
        '"jstack":"',
        "getConsumerRunningInfo",
        LIVE,
        "127.0.0.1@tool-consumer-live",
        "true",
      ),
      ["resetOffsetByTime", "-g", LIVE, "-t", this.#topic, "-s", "0"],
    ];
  }

  /** Its client needs 10 s and more until it goes on: others are compared meanwhile. */
  get again(): string[][] {
    return [
      ["@consumed", NAME, `count=${2 * this.#messages}`],
      this.#commit,
      ["consumerProgress", "-g", LIVE],
      ["skipAccumulatedMessage", "-g", LIVE, "-t", this.#topic],
      ["@leave", NAME],
    ];
  }

  get #commit(): string[] {
    return ["@commit", NAME, `topic=${this.#topic}`]
      .concat(`count=${this.#messages}`);
  }
}

/** Options that the first commands do not use, and what they have changed. */
export function details(
  cluster: ComparedCluster,
  topic: string,
  group: string,
): string[][] {
  const b = ["-b", cluster.broker];
  const made = ["-t", "DetailTopic"];
  const isOld = cluster.version.startsWith("4.");
  const newer = isOld ? [] : [
    ["updateTopic", ...b, "-t", "FifoTopic", "-r", "1", "-w", "1"]
      .concat("-a", "+message.type=FIFO"),
    ["updateTopic", ...b, "-t", "FifoTopic", "-a", "+no.such=1"],
    call(cluster, "examineTopicConfig", cluster.broker, "FifoTopic"),
    ["updateTopicList", ...b, "-f", `${cluster.files}/none.json`],
  ];
  return [
    ["updateTopic", "-c", ALL, ...made, "-r", "3", "-w", "3", "-p", "6"]
      .concat("-o", "true", "-u", "true", "-s", "true"),
    routed(cluster, "DetailTopic"),
    ["topicRoute", ...made],
    ["updateTopicPerm", "-c", ALL, ...made, "-p", "2"],
    ["updateTopicPerm", ...b, ...made, "-p", "2"],
    ["updateSubGroup", "-c", ALL, "-g", "detail-group", "-s", "false"]
      .concat("-m", "false", "-d", "false", "-q", "2", "-r", "5")
      .concat("-i", "1", "-w", "0", "-a", "false"),
    ["getConsumerConfig", "-g", "detail-group"],
    call(cluster, "getTopicClusterList", topic),
    call(cluster, "queryTopicConsumeByWho", "DetailTopic"),
    ["consumerProgress", "-g", group, "-s", "true"],
    ...newer,
    ["deleteSubGroup", "-c", ALL, "-g", "detail-group"],
    ["deleteTopic", ...made, "-c", ALL],
  ];
}

/** What cannot be: unknown names, positions beyond the end, values of no use. */
export function refusals(
  cluster: ComparedCluster,
  topic: string,
  group: string,
): string[][] {
  const b = ["-b", cluster.broker];
  const t = ["-t", topic];
  const g = ["-g", group];
  const isOld = cluster.version.startsWith("4.");
  const one = [...g, ...t, "-b", cluster.broker, "-s", "0"];
  const newer = isOld ? [] : [
    ["resetOffsetByTime", ...one, "-q", "3", "-o", "99"],
    ["resetOffsetByTime", ...one, "-q", "9", "-o", "0"],
  ];
  return [
    ["topicStatus", "-t", "NoTopic"],
    ["consumerStatus", "-g", "no-group"],
    ["consumerStatus", ...g, "-i", "no-client"],
    ["resetOffsetByTime", "-g", "no-group", ...t, "-s", "0"],
    ["resetOffsetByTime", ...g, "-t", "NoTopic", "-s", "0"],
    ["resetOffsetByTime", ...g, ...t, "-s", "yesterday"],
    ["skipAccumulatedMessage", "-g", "no-group", ...t],
    ["cloneGroupOffset", "-s", "no-group", "-d", group, ...t],
    ["queryCq", ...t, "-q", "7", "-i", "0", "-c", "1", ...b],
    ["queryCq", ...t, "-q", "0", "-i", "99", "-c", "1", ...b],
    ["queryMsgById", "-i", "no-id", ...(isOld ? [] : t)],
    ["queryMsgByOffset", ...t, "-b", "broker-a", "-i", "7", "-o", "0"],
    ["queryMsgByOffset", ...t, "-b", "no-broker", "-i", "0", "-o", "0"],
    ["updateBrokerConfig", ...b, "-k", "noSuchKey", "-v", "1"],
    ["updateNamesrvConfig", "-k", "noSuchKey", "-v", "1"],
    ["updateTopicPerm", ...b, "-t", "NoTopic", "-p", "4"],
    ["updateSubGroup", ...b, "-g", "bad group"],
    ["deleteTopic", "-t", "NoTopic", "-c", ALL],
    ["deleteSubGroup", ...b, "-g", "no-group"],
    ["addWritePerm", "-b", "no-broker"],
    ["deleteKvConfig", "-s", "space", "-k", "none"],
    call(cluster, "getKVConfig", "space", "none"),
    call(cluster, "getConsumeStatus", topic, "no-group", ""),
    call(cluster, "queryConsumeTimeSpan", "NoTopic", group),
    call(cluster, "viewBrokerStatsData", cluster.broker, "NO_STATS", "key"),
    ...newer,
  ];
}
