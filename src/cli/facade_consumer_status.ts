/**
 * What consumers say of themselves, for the names of RocketMQ's 4.x exporter: each is asked (307)
 * over its own connection. Who is silent, too old or too many is left out.
 */
import type { BrokerController } from "../broker/broker_controller.ts";
import type { ClientChannelInfo } from "../broker/client_channel_info.ts";
import type { ExporterClient } from "../metrics/exporter_snapshot.ts";
import {
  decodeJson,
  type JsonObject,
  numberField,
  objectField,
  objectOf,
} from "../protocol/body/json_fields.ts";
import { createRequest } from "../protocol/remoting_command.ts";
import { RequestCode } from "../protocol/request_code.ts";
import { ResponseCode } from "../protocol/response_code.ts";

/** Clients that one scrape asks. */
const CLIENTS_MAX = 100;
/** A scrape waits no longer: Prometheus gives it 10 s. */
const ANSWER_MS = 1_000;

/** One row per client, group and topic. */
export async function consumerStatus(
  { parts }: BrokerController,
): Promise<ExporterClient[]> {
  const { consumerManager } = parts;
  const asked: Promise<ExporterClient[]>[] = [];
  for (const group of consumerManager.groupNames()) {
    const info = consumerManager.getConsumerGroupInfo(group);
    for (const client of info?.clients.values() ?? []) {
      if (asked.length < CLIENTS_MAX) asked.push(statusOf(group, client));
    }
  }
  return (await Promise.all(asked)).flat();
}

async function statusOf(
  group: string,
  { clientId, connection }: ClientChannelInfo,
): Promise<ExporterClient[]> {
  try {
    const answer = await connection.invoke(
      createRequest(RequestCode.GET_CONSUMER_RUNNING_INFO, {
        consumerGroup: group,
        clientId,
        jstackEnable: "false",
      }),
      ANSWER_MS,
    );
    if (answer.code !== ResponseCode.SUCCESS) return [];
    const what = "ConsumerRunningInfo";
    const info = objectOf(decodeJson(answer.body, what), what);
    const topics = objectField(info, "statusTable");
    return Object.entries(topics).map(([topic, status]) => ({
      ...numbersOf(objectOf(status, topic)),
      address: connection.remoteAddress,
      clientId,
      group,
      topic,
    }));
  } catch {
    return []; // It is busy, gone, or says something else: a scrape shows who answers.
  }
}

function numbersOf(status: JsonObject) {
  return {
    pullRT: numberField(status, "pullRT", 0),
    pullTPS: numberField(status, "pullTPS", 0),
    consumeRT: numberField(status, "consumeRT", 0),
    consumeOKTPS: numberField(status, "consumeOKTPS", 0),
    consumeFailedTPS: numberField(status, "consumeFailedTPS", 0),
    consumeFailedMsgs: numberField(status, "consumeFailedMsgs", 0),
  };
}
