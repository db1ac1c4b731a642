/** The work of `pocketmq message`. */
import type { ConsumedMessage } from "../client/consumed_message.ts";
import type { MQAdmin } from "../client/mq_admin.ts";
import { messageIdProblem } from "../model/message_id.ts";
import type { CliContext } from "./cli_context.ts";
import { CliError } from "./cli_error.ts";
import { withAdmin } from "./client_session.ts";
import type {
  MessageAtFlags,
  QueryMessageFlags,
  ShowMessageFlags,
} from "./message_command.ts";
import { printMessages } from "./message_output.ts";
import { messageView } from "./message_view.ts";
import { parseTime } from "./time.ts";
import { unknownTopic } from "../client/mq_client_error.ts";

function print(
  context: CliContext,
  flags: { readonly json?: boolean },
  messages: readonly ConsumedMessage[],
): void {
  printMessages(context, flags, messages.map((it) => messageView(it.record)));
}

/** `message show`. */
export async function showMessage(
  context: CliContext,
  id: string,
  flags: ShowMessageFlags,
): Promise<void> {
  // Every text may be an id that some client made; without a topic it must say where it lies.
  const problem = messageIdProblem(id);
  if (flags.topic === undefined && problem !== undefined) {
    throw new CliError(
      `Cannot use message id ${id}: ${problem}; for an id that a client made, as produce prints, give --topic`,
      2,
    );
  }
  await withAdmin(context, flags, async (admin) => {
    const message = flags.topic === undefined
      ? await admin.messages.viewByOffsetId(id)
      : await admin.messages.view(flags.topic, id);
    if (message === undefined) {
      throw new CliError(
        flags.topic === undefined
          ? `No broker has a message with offset id ${id}; for an id that a client made, as produce prints, give --topic`
          : `Topic ${flags.topic} has no message ${id}: it may have expired (fileReservedTime), or be of another topic`,
      );
    }
    print(context, flags, [message]);
  });
}

/** `message query`. */
export async function queryMessages(
  context: CliContext,
  topic: string,
  flags: QueryMessageFlags,
): Promise<void> {
  const query = {
    maxNum: flags.max,
    beginMs: flags.begin === undefined ? 0 : parseTime("--begin", flags.begin),
    endMs: flags.end === undefined
      ? Number.MAX_SAFE_INTEGER
      : parseTime("--end", flags.end),
  };
  await withAdmin(context, flags, async (admin) => {
    const found = await admin.messages.byKey(topic, flags.key, query);
    if (found.length === 0) {
      if (flags.json === true) print(context, flags, found);
      throw new CliError(
        `Topic ${topic} has no message with key ${flags.key}: see its spelling, and --begin and --end; what has expired is found no more`,
      );
    }
    print(context, flags, found);
  });
}

/** `message at`. */
export async function messagesAt(
  context: CliContext,
  topic: string,
  flags: MessageAtFlags,
): Promise<void> {
  await withAdmin(context, flags, async (admin) => {
    const brokerName = flags.broker ?? await onlyBroker(admin, topic);
    const queue = { topic, brokerName, queueId: flags.queue };
    const found: ConsumedMessage[] = [];
    for (let index = 0; index < flags.max; index++) {
      const message = await admin.messages.atOffset(
        queue,
        flags.offset + index,
      );
      if (message === undefined) break;
      found.push(message);
    }
    if (found.length === 0) {
      throw new CliError(
        `Queue ${brokerName}/${flags.queue} of ${topic} has no message at ${flags.offset}: pocketmq topic show ${topic} gives the offsets that it has`,
      );
    }
    print(context, flags, found);
  });
}

async function onlyBroker(admin: MQAdmin, topic: string): Promise<string> {
  const route = await admin.topics.route(topic);
  const names = route?.queueDatas.map((it) => it.brokerName) ?? [];
  if (names.length === 1) return names[0]!;
  if (names.length === 0) throw unknownTopic(topic);
  throw new CliError(
    `Several brokers have topic ${topic}: give --broker ${names.join("|")}`,
    2,
  );
}
