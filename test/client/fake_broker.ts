/** FakeBroker: a RemotingServer on a simulated host that keeps messages in arrays and answers as scripted. */
import { assert } from "@std/assert";
import type { Clock } from "../../src/io/clock.ts";
import type { HeartbeatData } from "../../src/model/heartbeat_data.ts";
import { decodeMessageBatch } from "../../src/model/message_batch.ts";
import { encodeMessageId } from "../../src/model/message_id.ts";
import { parseSocketAddress } from "../../src/model/socket_address.ts";
import { encodeConsumerIdList } from "../../src/protocol/body/consumer_list_body.ts";
import { decodeHeartbeatData } from "../../src/protocol/body/heartbeat_body.ts";
import { encodeRegisterBrokerBody } from "../../src/protocol/body/register_broker_body.ts";
import { encodePullMessageResponseHeader } from "../../src/protocol/header/pull_message_response_header.ts";
import { encodeRegisterBrokerRequestHeader } from "../../src/protocol/header/register_broker_header.ts";
import { decodeSendMessageRequestHeaderV2 } from "../../src/protocol/header/send_message_request_header.ts";
import { encodeSendMessageResponseHeader } from "../../src/protocol/header/send_message_response_header.ts";
import {
  createRequest,
  createResponse,
  type RemotingCommand,
} from "../../src/protocol/remoting_command.ts";
import { RequestCode } from "../../src/protocol/request_code.ts";
import { RemotingClient } from "../../src/remoting/remoting_client.ts";
import {
  DEFAULT_REMOTING_CLIENT_OPTIONS,
  DEFAULT_REMOTING_SERVER_OPTIONS,
} from "../../src/remoting/remoting_options.ts";
import {
  type RemotingPorts,
  RemotingServer,
} from "../../src/remoting/remoting_server.ts";
import {
  HELD,
  type RemotingConnection,
  type RequestContext,
  type RequestProcessor,
} from "../../src/remoting/request_processor.ts";
import { brokerInner, encodeRecord } from "../model/message_fixture.ts";
import { bodyOf, headerOf } from "../namesrv/support.ts";

const TICK_MS = 100;
const PULL_MAX = 4;

interface HeldPull {
  readonly context: RequestContext;
  readonly request: RemotingCommand;
  readonly deadlineMs: number;
}

/** One master. */
export class FakeBroker {
  readonly address: string;
  readonly requests: RemotingCommand[] = [];
  readonly heartbeats: HeartbeatData[] = [];
  /** Records by `topic queueId`. */
  readonly queues = new Map<string, Uint8Array[]>();
  /** Committed offsets by `group topic queueId`. */
  readonly offsets = new Map<string, number>();
  /** Members of groups by client id. */
  readonly members = new Map<string, Map<string, RemotingConnection>>();
  /** Answers that win over the broker's own, by code; undefined lets it answer. */
  readonly script = new Map<
    number,
    (request: RemotingCommand) => RemotingCommand | undefined
  >();
  readonly #ports: RemotingPorts;
  readonly #server: RemotingServer;
  readonly #namesrvClient: RemotingClient;
  #held: HeldPull[] = [];

  constructor(
    ports: RemotingPorts,
    readonly name: string,
    readonly host: string,
  ) {
    this.#ports = ports;
    this.address = `${host}:10911`;
    const answer: RequestProcessor = (context, request) => {
      this.requests.push({ ...request, body: request.body.slice() });
      return this.script.get(request.code)?.(request) ??
        this.#answer(context, request);
    };
    const codes = [12, 11, 14, 15, 17, 25, 26, 28, 29, 30, 31, 33, 34, 35, 38];
    const more = [46, 200, 201, 202, 203, 207, 208, 215, 222, 310, 320];
    this.#server = new RemotingServer(
      ports,
      DEFAULT_REMOTING_SERVER_OPTIONS,
      new Map([...codes, ...more].map((code) => [code, answer])),
      { onClosed: (it) => this.#onClosed(it) },
    );
    this.#namesrvClient = new RemotingClient(
      ports,
      DEFAULT_REMOTING_CLIENT_OPTIONS,
    );
  }

  /** Listens and registers `topics`. */
  async start(
    namesrv: string,
    topics: readonly string[],
    queueNums: number,
  ): Promise<void> {
    await this.#server.listen({ hostname: this.host, port: 10_911 });
    this.#ports.clock.every(TICK_MS, () => this.#tick());
    await this.register(namesrv, topics, queueNums);
  }

  async register(
    namesrv: string,
    topics: readonly string[],
    queueNums: number,
  ): Promise<void> {
    const spec = {
      name: this.name,
      addr: this.address,
      topics: topics.map((topicName) => ({
        topicName,
        readQueueNums: queueNums,
        writeQueueNums: queueNums,
        perm: topicName === "TBW102" ? 7 : 6,
        topicFilterType: "SINGLE_TAG" as const,
        topicSysFlag: 0,
        order: false,
        attributes: {},
      })),
      counter: ++this.#registrations,
    };
    const response = await this.#namesrvClient.invoke(
      namesrv,
      createRequest(
        RequestCode.REGISTER_BROKER,
        encodeRegisterBrokerRequestHeader(headerOf(spec)),
        encodeRegisterBrokerBody(bodyOf(spec)),
      ),
      3_000,
    );
    assert(response.code === 0, response.remark ?? "");
  }
  #registrations = 0;

  /** Stores a message as if a producer had sent it. */
  put(topic: string, queueId: number, body: string, tags = ""): void {
    const properties = tags === "" ? "" : `TAGS\u0001${tags}\u0002`;
    this.#append(topic, queueId, new TextEncoder().encode(body), properties);
  }

  requestsOf(code: number): RemotingCommand[] {
    return this.requests.filter((it) => it.code === code);
  }

  /** 40 to every member of a group. */
  notify(group: string): void {
    for (const connection of this.members.get(group)?.values() ?? []) {
      connection.invokeOneway(
        createRequest(RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, {
          consumerGroup: group,
        }),
      );
    }
  }

  #answer(
    context: RequestContext,
    request: RemotingCommand,
  ): RemotingCommand | typeof HELD {
    const fields = request.extFields;
    switch (request.code) {
      case RequestCode.SEND_MESSAGE_V2:
      case RequestCode.SEND_BATCH_MESSAGE:
        return this.#send(request);
      case RequestCode.PULL_MESSAGE:
        return this.#pull(request, context);
      case RequestCode.QUERY_CONSUMER_OFFSET: {
        const offset = this.offsets.get(offsetKey(fields));
        return offset === undefined
          ? createResponse(22, "no offset")
          : createResponse(0, null, { offset: String(offset) });
      }
      case RequestCode.UPDATE_CONSUMER_OFFSET:
        this.offsets.set(offsetKey(fields), Number(fields.commitOffset));
        return createResponse(0);
      case RequestCode.GET_MIN_OFFSET:
        return createResponse(0, null, { offset: "0" });
      case RequestCode.GET_MAX_OFFSET:
        return createResponse(0, null, {
          offset: String(this.#queue(fields.topic!, fields.queueId!).length),
        });
      case RequestCode.SEARCH_OFFSET_BY_TIMESTAMP:
        return createResponse(0, null, { offset: "1" });
      case RequestCode.HEART_BEAT:
        return this.#heartbeat(context, request);
      case RequestCode.UNREGISTER_CLIENT:
        this.members.get(fields.consumerGroup ?? "")?.delete(fields.clientID!);
        this.notify(fields.consumerGroup ?? "");
        return createResponse(0);
      case RequestCode.GET_CONSUMER_LIST_BY_GROUP: {
        const ids = [...this.members.get(fields.consumerGroup!)?.keys() ?? []];
        return ids.length === 0
          ? createResponse(1, "no consumer for this group")
          : createResponse(0, null, {}, encodeConsumerIdList(ids));
      }
      default:
        return createResponse(0);
    }
  }

  #heartbeat(
    { connection }: RequestContext,
    request: RemotingCommand,
  ): RemotingCommand {
    const data = decodeHeartbeatData(request.body);
    this.heartbeats.push(data);
    for (const { groupName } of data.consumerDataSet) {
      const members = this.members.get(groupName) ?? new Map();
      this.members.set(groupName, members);
      const isNew = !members.has(data.clientID);
      members.set(data.clientID, connection);
      if (isNew) this.notify(groupName);
    }
    return createResponse(0);
  }

  #send(request: RemotingCommand): RemotingCommand {
    const header = decodeSendMessageRequestHeaderV2(request.extFields);
    const entries = header.batch
      ? decodeMessageBatch(request.body)
      : [{ body: request.body, propertiesText: header.properties }];
    const queueOffset = this.#queue(header.topic, String(header.queueId))
      .length;
    for (const it of entries) {
      this.#append(
        header.topic,
        header.queueId,
        it.body.slice(),
        it.propertiesText,
      );
    }
    const fields = encodeSendMessageResponseHeader({
      msgId: encodeMessageId(parseSocketAddress(this.address)!, queueOffset),
      queueId: header.queueId,
      queueOffset,
      transactionId: undefined,
      msgRegion: "DefaultRegion",
      traceOn: true,
    });
    return createResponse(0, null, fields);
  }

  #pull(
    request: RemotingCommand,
    context: RequestContext | undefined,
  ): RemotingCommand | typeof HELD {
    const fields = request.extFields;
    const records = this.#queue(fields.topic!, fields.queueId!);
    const offset = Number(fields.queueOffset);
    const found = records.slice(offset, offset + PULL_MAX);
    const header = (next: number) =>
      encodePullMessageResponseHeader({
        suggestWhichBrokerId: 0,
        nextBeginOffset: next,
        minOffset: 0,
        maxOffset: records.length,
        topicSysFlag: 0,
        groupSysFlag: 0,
      });
    if (offset > records.length) {
      return createResponse(21, "moved", header(records.length));
    }
    if (found.length > 0) {
      const body = new Uint8Array(found.flatMap((it) => [...it]));
      return createResponse(0, "FOUND", header(offset + found.length), body);
    }
    if (context === undefined) {
      return createResponse(19, "NO_NEW_MSG", header(offset));
    }
    const suspendMs = Number(fields.suspendTimeoutMillis);
    const deadlineMs = this.#clock.monotonicMs() + suspendMs;
    this.#held.push({ context, request: { ...request }, deadlineMs });
    return HELD;
  }

  #append(
    topic: string,
    queueId: number,
    body: Uint8Array,
    propertiesText: string,
  ): void {
    const records = this.#queue(topic, String(queueId));
    records.push(encodeRecord(
      brokerInner({ topic, queueId, body, propertiesText }),
      records.length,
      records.length * 1_000,
      this.#clock.nowMs(),
    ));
    const held = this.#held;
    this.#held = [];
    for (const it of held) {
      const { extFields } = it.request;
      if (extFields.topic === topic && extFields.queueId === String(queueId)) {
        it.context.respond(
          this.#pull(it.request, undefined) as RemotingCommand,
        );
      } else this.#held.push(it);
    }
  }

  #tick(): void {
    this.#server.tick(this.#clock.nowMs());
    this.#namesrvClient.tick(this.#clock.nowMs());
    const nowMs = this.#clock.monotonicMs();
    const due = this.#held.filter((it) => nowMs >= it.deadlineMs);
    this.#held = this.#held.filter((it) => nowMs < it.deadlineMs);
    for (const it of due) {
      it.context.respond(this.#pull(it.request, undefined) as RemotingCommand);
    }
  }

  #onClosed(connection: RemotingConnection): void {
    for (const [group, members] of this.members) {
      for (const [id, it] of members) {
        if (it !== connection) continue;
        members.delete(id);
        this.notify(group);
      }
    }
  }

  #queue(topic: string, queueId: string): Uint8Array[] {
    const key = `${topic} ${queueId}`;
    let records = this.queues.get(key);
    if (records === undefined) this.queues.set(key, records = []);
    return records;
  }

  get #clock(): Clock {
    return this.#ports.clock;
  }
}

function offsetKey(fields: Record<string, string>): string {
  return `${fields.consumerGroup} ${fields.topic} ${fields.queueId}`;
}
