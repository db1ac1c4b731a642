/** An AdminFacade over a few maps. */
import type { AdminFacade } from "../../src/admin/admin_facade.ts";
import { adminApp, type AdminAppOptions } from "../../src/admin/admin_app.ts";
import type { GroupConnection } from "../../src/admin/group_routes.ts";
import type { HAStatus } from "../../src/admin/ha_routes.ts";
import type { MessageView } from "../../src/admin/message_routes.ts";
import { ProblemError } from "../../src/admin/problem.ts";
import {
  createSubscriptionGroupConfig,
  type SubscriptionGroupConfig,
} from "../../src/model/subscription_group_config.ts";
import type { TopicConfig } from "../../src/model/topic_config.ts";

export const ALONE: HAStatus = {
  role: "ASYNC_MASTER",
  clusterName: "DefaultCluster",
  brokerName: "broker-a",
  brokerId: 0,
  epoch: 0,
  promotedAtOffset: null,
  roleFrom: "configuration",
  state: "alone",
  reason: "No slave is connected",
  haAddress: null,
  master: true,
  masterCommitLogMaxOffset: 7_340_032,
  inSyncSlaveNums: 0,
  commitLogMinOffset: 0,
  flushedOffset: 7_340_032,
  confirmOffset: 7_340_032,
  replicatedOffset: null,
  pendingSyncRequests: 0,
  syncMode: null,
  haConnectionInfo: [],
  haClientRuntimeInfo: null,
  metadataAddress: null,
  offsetRecoveryReason: null,
  fencingReason: null,
  roleChangeReason: null,
  metadata: null,
};

export const MESSAGE: MessageView = {
  msgId: "7F00000100002A9F0000000000000000",
  offsetMsgId: "7F00000100002A9F0000000000000000",
  topic: "T",
  queueId: 0,
  queueOffset: 5,
  commitLogOffset: 900,
  storeSize: 120,
  bornTimestamp: 1,
  bornHost: "127.0.0.1:1",
  storeTimestamp: 2,
  storeHost: "127.0.0.1:10911",
  reconsumeTimes: 0,
  sysFlag: 0,
  properties: { KEYS: "k" },
  compression: null,
  bodySize: 5,
  body: new TextEncoder().encode("hello"),
};

const CONNECTION: GroupConnection = {
  consumeType: "CONSUME_PASSIVELY",
  messageModel: "CLUSTERING",
  consumeFromWhere: "CONSUME_FROM_LAST_OFFSET",
  members: [{
    clientId: "c",
    address: "127.0.0.1:1",
    language: "JAVA",
    version: 1,
    lastUpdateTimestamp: 1,
  }],
  subscriptions: [],
};

export function fakeFacade() {
  const topics = new Map<string, TopicConfig>();
  const groups = new Map<string, SubscriptionGroupConfig>();
  const sent: unknown[] = [];
  const resets: unknown[] = [];
  const state = { isReady: true };
  const facade: AdminFacade = {
    health: {
      checks: () => [
        { name: "store", ok: state.isReady, detail: "the disk is full" },
      ],
      metrics: () =>
        Promise.resolve({
          contentType: "text/plain",
          bytes: new TextEncoder().encode("a 1\n"),
        }),
    },
    ha: {
      status: () => ALONE,
      changeRole: ({ force, role }) => {
        if (force !== true) {
          throw new ProblemError(409, "No slave is in sync", [
            { field: "force", message: "true does it all the same" },
          ]);
        }
        return Promise.resolve({
          role: role === "MASTER" ? "SYNC_MASTER" : role,
          brokerId: role === "SLAVE" ? 1 : 0,
          epoch: 1,
          promotedAtOffset: 4_096,
          detail: "done",
        });
      },
    },
    haReseed: {
      reseed: (force) => {
        if (!force) {
          throw new ProblemError(409, "Only a slave is re-seeded");
        }
        return Promise.resolve({
          action: "reseed",
          reason: "left behind",
          asideDirectory: null,
          minOffset: 0,
          maxOffset: 1,
        });
      },
    },
    topics: {
      topics: () => [...topics.values()],
      topic: (it) => topics.get(it),
      queues: () =>
        Promise.resolve([{
          queueId: 0,
          minOffset: 0,
          maxOffset: 3,
          lastUpdateTimestamp: null,
        }]),
      isSystemTopic: (it) => it.startsWith("SYS"),
      topicError: (it) =>
        it.includes(" ") ? "A topic has no spaces" : undefined,
      putTopic: (it) => {
        topics.set(it.topicName, it);
        return Promise.resolve();
      },
      deleteTopic: (it) => {
        topics.delete(it);
        return Promise.resolve();
      },
      send: (topic, message) => {
        if (topic === "Closed") {
          throw new ProblemError(503, "The store is read-only");
        }
        sent.push([topic, message]);
        return Promise.resolve({
          status: "SEND_OK",
          msgId: "A",
          offsetMsgId: "B",
          queueId: 1,
          queueOffset: 2,
        });
      },
    },
    groups: {
      groups: () => [...groups.values()],
      group: (it) => groups.get(it),
      connection: (it) => it === "Online" ? CONNECTION : undefined,
      lag: (it) =>
        groups.has(it)
          ? [
            {
              topic: "T",
              queueId: 0,
              brokerOffset: 9,
              consumerOffset: 4,
              lag: 5,
              popInflight: 0,
            },
            {
              topic: "T",
              queueId: 1,
              brokerOffset: 7,
              consumerOffset: 0,
              lag: 7,
              popInflight: 0,
            },
          ]
          : [],
      groupError: () => undefined,
      isSystemGroup: (it) => it === "TOOLS_CONSUMER",
      hasTopic: (it) => it === "T",
      resetOffset: (group, { topic, timestampMs, queueId, offset }) => {
        resets.push([group, topic, timestampMs, queueId, offset]);
        return Promise.resolve([{
          topic,
          queueId: 0,
          brokerOffset: 9,
          consumerOffset: 2,
          lag: 7,
          popInflight: 0,
        }]);
      },
      cloneOffset: (group, source, topic) => {
        resets.push([group, source, topic]);
        return Promise.resolve([]);
      },
      newGroup: createSubscriptionGroupConfig,
      putGroup: (it) => {
        groups.set(it.groupName, it);
        return Promise.resolve();
      },
      deleteGroup: (it) => {
        groups.delete(it);
        return Promise.resolve();
      },
    },
    messages: {
      queueNums: (it) => it === "T" ? 4 : undefined,
      byId: (id) =>
        Promise.resolve(
          id === "boom" ? Promise.reject(new Error("x")) : [MESSAGE],
        ),
      byKey: () => Promise.resolve([]),
      byOffset: (_topic, _queueId, offset) =>
        Promise.resolve([{
          ...MESSAGE,
          queueOffset: offset,
          body: Uint8Array.of(0, 255),
        }]),
    },
    clients: { clients: () => [], connectionCount: () => 2 },
    config: {
      entries: () => [],
      update: (changes) => {
        if (changes.has("nope")) {
          throw new ProblemError(400, "Unknown key nope", [
            { field: "nope", message: "unknown" },
          ]);
        }
        return Promise.resolve({
          changed: [...changes.keys()],
          afterRestart: [],
          isPersisted: true,
        });
      },
    },
    store: {
      store: () =>
        Promise.resolve({
          storePathRootDir: "/s",
          isWritable: true,
          unwritableReason: null,
          commitLogMinOffset: 0,
          commitLogMaxOffset: 1,
          flushedOffset: 1,
          confirmOffset: 1,
          flushBehindBytes: 0,
          dispatchBehindBytes: 0,
          mappedFileSizeCommitLog: 1,
          mappedFileSizeConsumeQueue: 20,
          flushDiskType: "ASYNC_FLUSH",
          messageVisibleAfter: "append",
          earliestMessageTimestamp: null,
          putMessageTimesTotal: 0,
          putMessageSizeTotal: 0,
          asideFolders: [],
          timers: null,
          disk: null,
        }),
    },
    routes: { routes: () => undefined },
  };
  return { facade, topics, groups, resets, sent, state };
}

export function fakeApp(options: Partial<AdminAppOptions> = {}) {
  const fake = fakeFacade();
  const failures: unknown[] = [];
  const app = adminApp(fake.facade, {
    version: "1.2.3",
    access: { token: "" },
    bodySizeMax: 2048,
    onFailure: (_path, error) => failures.push(error),
    ...options,
  });
  const ask = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) => {
    const answer = await app.request(`http://127.0.0.1:10913${path}`, {
      method,
      headers: body === undefined
        ? headers
        : { "content-type": "application/json", ...headers },
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    const isJson = answer.headers.get("content-type")?.includes("json") ??
      false;
    return {
      status: answer.status,
      headers: answer.headers,
      // deno-lint-ignore no-explicit-any -- tests read into the JSON
      body: (isJson ? JSON.parse(text) : text) as any,
    };
  };
  return { ...fake, app, ask, failures };
}
