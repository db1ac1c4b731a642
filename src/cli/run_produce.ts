/** produce: the work of `pocketmq produce`. */
import type { Message } from "../client/message.ts";
import type { MQClientInstance } from "../client/mq_client_instance.ts";
import { DEFAULT_PRODUCER_OPTIONS, Producer } from "../client/producer.ts";
import type { SendResult } from "../client/send_result.ts";
import { FileError } from "../io/file_system.ts";
import { isPropertyText } from "../model/message_properties.ts";
import { topicError } from "../model/validators.ts";
import { type CliContext, printLine } from "./cli_context.ts";
import { CliError } from "./cli_error.ts";
import { withClient } from "./client_session.ts";
import { BODY_SIZE_MAX } from "./files.ts";
import type { ProduceFlags } from "./produce_command.ts";

const PRODUCER_GROUP = "pocketmq_produce";
const SEND_TIMEOUT_MS = 10_000;

/** Sends and prints one line for each message. */
export async function produce(
  context: CliContext,
  topic: string,
  body: string | undefined,
  flags: ProduceFlags,
): Promise<void> {
  const wrong = topicError(topic);
  if (wrong !== undefined) throw new CliError(wrong, 2);
  checkKeys(flags.key);
  checkTexts([flags.tag ?? "", ...flags.key, ...flags.property]);
  const message: Message = {
    topic,
    body: await bodyOf(context, body, flags),
    keys: flags.key,
    properties: propertiesOf(flags.property),
    delayLevel: flags.delayLevel ?? 0,
    ...(flags.tag === undefined ? {} : { tags: flags.tag }),
  };
  await withClient(context, flags, async (instance) => {
    const producer = openProducer(instance, message.body.length);
    try {
      for (let sent = 0; sent < flags.count; sent++) {
        const result = await producer.send(message);
        // Stored, but a promise about disk or slaves was not kept.
        if (result.sendStatus !== "SEND_OK") context.exitCode = 1;
        print(context, flags, result);
      }
    } finally {
      await producer.stop();
    }
  });
}

function openProducer(instance: MQClientInstance, bodySize: number): Producer {
  const producer = new Producer(instance, {
    ...DEFAULT_PRODUCER_OPTIONS,
    producerGroup: PRODUCER_GROUP,
    sendMsgTimeout: SEND_TIMEOUT_MS,
    // The broker's limit decides, and says so with its own code.
    maxMessageSize: Math.max(
      DEFAULT_PRODUCER_OPTIONS.maxMessageSize,
      bodySize,
    ),
  });
  producer.start();
  return producer;
}

async function bodyOf(
  context: CliContext,
  body: string | undefined,
  flags: ProduceFlags,
): Promise<Uint8Array> {
  const given = [
    body !== undefined,
    flags.file !== undefined,
    flags.size !== undefined,
  ].filter(Boolean).length;
  if (given > 1) {
    throw new CliError("Give one of BODY, --file and --size, not several", 2);
  }
  if (flags.file !== undefined) return await fileBody(context, flags.file);
  if (flags.size !== undefined) return filler(flags.size);
  if (body !== undefined) return new TextEncoder().encode(body);
  throw new CliError("Give a BODY, --file or --size", 2);
}

async function fileBody(
  { process }: CliContext,
  path: string,
): Promise<Uint8Array> {
  try {
    return path === "-"
      ? await process.readStdin(BODY_SIZE_MAX)
      : process.readInput(path, BODY_SIZE_MAX).bytes;
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    throw new CliError(error.message, 2, { cause: error });
  }
}

/** Letters, so that a body can be looked at. */
function filler(size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  for (let index = 0; index < size; index++) bytes[index] = 97 + index % 26;
  return bytes;
}

function checkKeys(keys: readonly string[]): void {
  const key = keys.find((it) => it === "" || /\s/.test(it));
  if (key === undefined) return;
  throw new CliError(
    `Cannot use --key ${
      JSON.stringify(key)
    }: a key is not empty and holds no space; repeat --key for several`,
    2,
  );
}

/** A text with a separator would be several properties. */
function checkTexts(texts: readonly string[]): void {
  const wrong = texts.find((it) => !isPropertyText(it));
  if (wrong === undefined) return;
  throw new CliError(
    `Cannot use ${
      JSON.stringify(wrong)
    } in a tag, key or property: it holds the control character 1 or 2`,
    2,
  );
}

function propertiesOf(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(pairs.map((pair) => {
    const at = pair.indexOf("=");
    if (at > 0) return [pair.slice(0, at), pair.slice(at + 1)];
    throw new CliError(`Cannot use --property ${pair}: give key=value`, 2);
  }));
}

function print(
  context: CliContext,
  flags: ProduceFlags,
  result: SendResult,
): void {
  const { sendStatus, msgId, offsetMsgId, queue, queueOffset } = result;
  printLine(
    context,
    flags.json === true
      ? JSON.stringify({
        status: sendStatus,
        msgId,
        offsetMsgId,
        topic: queue.topic,
        brokerName: queue.brokerName,
        queueId: queue.queueId,
        queueOffset,
      })
      : `${sendStatus} ${msgId} ${queue.brokerName}/${queue.queueId} ${queueOffset}`,
  );
}
