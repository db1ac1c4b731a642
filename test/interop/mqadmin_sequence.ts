/** The one sequence of mqadmin commands that an Apache cluster and ours are compared by. */
import { mkdirSync, writeFileSync } from "node:fs";
import {
  call,
  type ComparedCluster,
  counted,
  routed,
  until,
} from "./mqadmin_cluster.ts";
import { details, LiveGroup, refusals } from "./mqadmin_details.ts";

/** Makes the folder with the lists that commands read, and gives its path. */
export function listsOfMqadmin(folder: string): string {
  mkdirSync(folder, { recursive: true });
  const topics = [{
    topicName: "ListedTopic",
    readQueueNums: 2,
    writeQueueNums: 2,
    perm: 6,
  }];
  const groups = [{ groupName: "listed-group", retryMaxTimes: 3 }];
  writeFileSync(`${folder}/topics.json`, JSON.stringify(topics));
  writeFileSync(`${folder}/groups.json`, JSON.stringify(groups));
  return folder;
}

const TOPIC = "CmpTopic";
const GROUP = "cmp-group";
const RETRIES = `%RETRY%${GROUP}`;
const CLIENT = "127.0.0.1@tool-consumer";
const MESSAGES = 12;
const QUEUES = 4;
const LAST_OFFSET = `"maxOffset":${MESSAGES / QUEUES + 1}`;

/** Of the tools' API, where no command makes the call. */
function calls(cluster: ComparedCluster): string[][] {
  const { broker } = cluster;
  return [
    call(cluster, "queryTopicConsumeByWho", TOPIC),
    call(cluster, "queryConsumeTimeSpan", TOPIC, GROUP),
    call(cluster, "getConsumeStatus", TOPIC, GROUP, CLIENT),
    call(cluster, "getConsumeStatus", TOPIC, GROUP, ""),
    call(cluster, "cloneGroupOffset", GROUP, "called-group", TOPIC, "true"),
    call(cluster, "examineConsumeStats", "called-group", TOPIC),
    call(cluster, "fetchTopicsByCLuster", "DefaultCluster"),
    call(cluster, "queryTopicsByConsumer", GROUP),
    call(cluster, "querySubscription", GROUP, TOPIC),
    call(cluster, "examineTopicConfig", broker, TOPIC),
    call(cluster, "examineTopicConfig", broker, "NoTopic"),
    call(cluster, "examineSubscriptionGroupConfig", broker, GROUP),
    call(
      cluster,
      "updateAndGetGroupReadForbidden",
      broker,
      GROUP,
      TOPIC,
      "false",
    ),
    call(
      cluster,
      "updateAndGetGroupReadForbidden",
      broker,
      GROUP,
      TOPIC,
      "true",
    ),
  ];
}

/** Commands in order; "@" ones are for the clients beside the tool (`ToolClients.java`). */
export function mqadminSequence(cluster: ComparedCluster): string[][] {
  const n = ["-n", cluster.namesrv];
  const b = ["-b", cluster.broker];
  const topic = ["-t", TOPIC];
  const group = ["-g", GROUP];
  // Newer tools ask for the topic of an id, too.
  const isOld = cluster.version.startsWith("4.");
  const byId = isOld ? [] : topic;
  const at = ["-b", "broker-a", "-i"];
  const live = new LiveGroup(cluster, TOPIC, MESSAGES + 1);
  const administration = [
    ["updateTopic", ...b, "-t", "MadeTopic", "-r", "3", "-w", "2"],
    ["updateTopic", "-c", "DefaultCluster", ...topic, "-r", "4", "-w", "4"],
    ["updateTopic", ...b, "-t", "bad topic", "-r", "1", "-w", "1"],
    ["updateTopicPerm", ...b, "-t", "MadeTopic", "-p", "4"],
    ["updateSubGroup", ...b, ...group],
    ["updateSubGroup", ...b, "-g", "clone-group"],
    // The heartbeat of a client makes it, of the tools' own clients only where one lives for 1 s.
    ["updateTopic", ...b, "-t", "%RETRY%TOOLS_CONSUMER", "-r", "1", "-w", "1"],
    // So that the consumer has this queue from its first rebalance on.
    ["updateTopic", ...b, "-t", RETRIES, "-r", "1", "-w", "1"],
    ...[TOPIC, "MadeTopic", "%RETRY%TOOLS_CONSUMER", RETRIES]
      .map((it) => routed(cluster, it)),
    ["topicList"],
    ["topicList", "-c"],
    ["topicRoute", ...topic],
    ["topicRoute", "-t", "MadeTopic"],
    ["topicRoute", "-t", "NoTopic"],
    ["topicClusterList", ...topic],
    ["allocateMQ", ...topic, "-i", "10.0.0.1,10.0.0.2"],
  ];
  const messages = [
    ["@produce", "group=cmp-producers", `namesrv=${cluster.namesrv}`]
      .concat(`topic=${TOPIC}`, "broker=broker-a", `count=${MESSAGES}`)
      .concat(`queues=${QUEUES}`),
    ["sendMessage", ...topic, "-p", "by hand", "-k", "hand", "-c", "TagH"]
      .concat(...at, "3"),
    // Of the last message: all have reached their queues and the index.
    until(cluster, LAST_OFFSET, "examineTopicStats", TOPIC),
    ["topicStatus", ...topic],
    ["printMsg", ...topic, "-d", "true"],
    ["printMsgByQueue", ...topic, "-a", "broker-a", "-i", "1"]
      .concat("-p", "true", "-d", "true", "-f", "true"),
    ["queryMsgByOffset", ...topic, ...at, "2", "-o", "1"],
    ["queryMsgByOffset", ...topic, ...at, "2", "-o", "99"],
    ["queryMsgById", ...byId, "-i", "$offset5"],
    ["queryMsgByKey", ...topic, "-k", "key7"],
    ["queryMsgByKey", ...topic, "-k", "nobody"],
    ["queryMsgByUniqueKey", ...topic, "-i", "$uniq4"],
    ["queryCq", ...topic, "-q", "1", "-i", "1", "-c", "2"],
    ["consumeMessage", ...topic, "-b", "broker-a", "-i", "0", "-o", "0"]
      .concat("-c", "2"),
  ];
  const members = [
    ["@consume", `group=${GROUP}`, `namesrv=${cluster.namesrv}`]
      .concat(`topic=${TOPIC}`, `count=${MESSAGES + 1}`),
    ["@commit", `topic=${TOPIC}`, `count=${MESSAGES + 1}`],
    // Counts are those of the last minute; whatever shows rates comes later.
    counted(cluster, "TOPIC_PUT_NUMS", TOPIC, MESSAGES + 1),
    counted(cluster, "GROUP_GET_NUMS", `${TOPIC}@${GROUP}`, MESSAGES + 1),
    ["statsAll"],
    ["statsAll", ...topic],
    ["consumerProgress", ...group],
    ["consumerProgress"],
    ["consumerProgress", "-g", "no-group"],
    ["consumerConnection", ...group],
    ["consumerConnection", "-g", "no-group"],
    ["producerConnection", "-g", "cmp-producers", ...topic],
    ["producerConnection", "-g", "no-group", ...topic],
    ["consumerStatus", ...group],
    ["consumerStatus", ...group, "-i", CLIENT],
    ["queryCq", ...topic, "-q", "0", "-i", "0", "-c", "1", ...group],
    ["queryCq", ...topic, "-q", "0", "-i", "0", "-c", "1", "-g", "no-group"],
    ["queryMsgById", ...byId, "-i", "$offset6", ...group, "-d", CLIENT],
    // 4.9's takes 24 s for it, of Apache's cluster as of ours.
    ...(isOld ? [] : [
      ["queryMsgByUniqueKey", ...topic, "-i", "$uniq6", ...group]
        .concat("-d", CLIENT),
    ]),
    ["brokerConsumeStats", ...b],
    ["brokerConsumeStats", ...b, "-l", "1"],
    ["brokerConsumeStats", ...b, "-o", "true"],
    ["producer", ...b],
    ["@monitor", `namesrv=${cluster.namesrv}`],
    ["cloneGroupOffset", "-s", GROUP, "-d", "clone-group", ...topic]
      .concat("-o", "true"),
    ["consumerProgress", "-g", "clone-group"],
    ...calls(cluster),
    ["@leave"],
    ["consumerConnection", ...group],
    ["resetOffsetByTime", ...group, ...topic, "-s", "0"],
    ["consumerProgress", ...group],
    ["skipAccumulatedMessage", ...group, ...topic],
    ["consumerProgress", ...group],
    call(cluster, "resetOffsetNew", GROUP, TOPIC, "0"),
    ["consumerProgress", ...group],
    call(cluster, "resetOffsetByTimestampOld", GROUP, TOPIC, "-1", "true"),
    ["consumerProgress", ...group],
    ["getConsumerConfig", ...group],
  ];
  const servers = [
    ["clusterList"],
    ["clusterList", "-m"],
    ["brokerStatus", ...b],
    ["getBrokerConfig", ...b],
    ...live.reset,
    ["updateBrokerConfig", ...b, "-k", "fileReservedTime", "-v", "71"],
    ["sendMsgStatus", "-b", "broker-a", "-c", "1"],
    ["cleanExpiredCQ", ...b],
    ["cleanUnusedTopic", ...b],
    ["deleteExpiredCommitLog", ...b],
    ["getNamesrvConfig"],
    ["updateNamesrvConfig", "-k", "orderMessageEnable", "-v", "true"],
    ["updateKvConfig", "-s", "space", "-k", "key", "-v", "value"],
    call(cluster, "getKVConfig", "space", "key"),
    call(cluster, "getKVListByNamespace", "space"),
    ["deleteKvConfig", "-s", "space", "-k", "key"],
    ["updateOrderConf", ...topic, "-m", "put", "-v", "broker-a:4"],
    ["updateOrderConf", ...topic, "-m", "get"],
    ["topicRoute", ...topic],
    ["updateOrderConf", ...topic, "-m", "delete"],
    ["wipeWritePerm", "-b", "broker-a"],
    ["topicRoute", ...topic],
    ["addWritePerm", "-b", "broker-a"],
    ["topicRoute", ...topic],
    ["wipeWritePerm", "-b", "no-broker"],
  ];
  const deletions = [
    ["deleteSubGroup", ...b, "-g", "clone-group"],
    ["deleteSubGroup", ...b, ...group, "-r", "true"],
    ["consumerProgress", ...group],
    ["deleteTopic", ...topic, "-c", "DefaultCluster"],
    ["topicRoute", ...topic],
    ["topicList"],
    ["@close"],
  ];
  const newer = isOld ? [] : [
    ["updateTopicList", ...b, "-f", `${cluster.files}/topics.json`],
    routed(cluster, "ListedTopic"),
    ["topicRoute", "-t", "ListedTopic"],
    ["updateSubGroupList", ...b, "-f", `${cluster.files}/groups.json`],
    ["getConsumerConfig", "-g", "listed-group"],
    ["clusterList", "-c", "DefaultCluster"],
    ["topicStatus", ...topic, "-c", "DefaultCluster"],
    ["resetOffsetByTime", ...group, ...topic, "-s", "0", "-b", cluster.broker]
      .concat("-q", "3", "-o", "2"),
    ["consumerProgress", ...group, ...topic],
    ["haStatus", ...b],
    ["getBrokerEpoch", "-c", "DefaultCluster"],
    ["resetMasterFlushOffset", ...b, "-o", "0"],
    ["setConsumeMode", ...b, ...topic, ...group, "-m", "PULL"],
    ["getColdDataFlowCtrInfo", ...b],
    ["setCommitLogReadAheadMode", ...b, "-m", "1"],
  ];
  const more = [
    ["printMsg", ...topic, "-s", "TagH", "-d", "true"],
    ["checkMsgSendRT", "-t", "MadeTopic", "-a", "2", "-s", "10"],
    ["consumerConnection", ...group, ...b],
    ["queryMsgTraceById", "-i", "$uniq4"],
    ["exportMetadata", "-c", "DefaultCluster", "-f", cluster.files],
    ["@show", `file=${cluster.files}/metadata.json`],
    ["exportConfigs", "-c", "DefaultCluster", "-f", cluster.files],
    ["@show", `file=${cluster.files}/configs.json`],
    ["exportMetrics", "-c", "DefaultCluster", "-f", cluster.files],
    ["@show", `file=${cluster.files}/metrics.json`],
  ];
  const own = [
    administration,
    messages,
    members,
    servers,
    more,
    details(cluster, TOPIC, GROUP),
    newer,
    refusals(cluster, TOPIC, GROUP),
    live.again,
    deletions,
  ].flat();
  return own.map((it) => it[0]!.startsWith("@") ? it : [...it, ...n]);
}
