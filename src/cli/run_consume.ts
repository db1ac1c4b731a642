/** consume: the work of `pocketmq consume`. */
import { shown } from "../base/shown.ts";
import type { ConsumedMessage } from "../client/consumed_message.ts";
import { Consumer } from "../client/consumer.ts";
import {
  type ConsumerOptions,
  DEFAULT_CONSUMER_OPTIONS,
} from "../client/consumer_options.ts";
import { MQClientError } from "../client/mq_client_error.ts";
import type { MQClientInstance } from "../client/mq_client_instance.ts";
import { CompiledSelector } from "../filter/compiled_selector.ts";
import { SelectorParseError } from "../filter/selector_parse_error.ts";
import type { ConsumeFromWhere } from "../model/heartbeat_data.ts";
import { groupError, topicError } from "../model/validators.ts";
import { type CliContext, printWarning } from "./cli_context.ts";
import { CliError } from "./cli_error.ts";
import { withClient } from "./client_session.ts";
import type { ConsumeFlags } from "./consume_command.ts";
import { messageJson } from "./message_output.ts";
import { messageView } from "./message_view.ts";
import { parseTime } from "./time.ts";

const NEWLINE = Uint8Array.of(10);
/** A member that leaves is missed sooner when its pulls do not last long. */
const SUSPEND_MS = 5_000;

/** Why it ended; an error is a refusal that stays. */
type End = "count" | "timeout" | "signal" | MQClientError;

/** Prints bodies until `--count`, `--timeout`, a signal, or a refusal that stays. */
export async function consume(
  context: CliContext,
  topic: string,
  flags: ConsumeFlags,
): Promise<void> {
  const options = optionsOf(topic, flags);
  if (flags.sql !== undefined) warnOfIgnored(context, flags.sql);
  await withClient(context, flags, async (instance) => {
    const ended = Promise.withResolvers<End>();
    let left = flags.count ?? Infinity;
    const consumer = new Consumer(instance, options, (messages) => {
      let done = 0;
      for (const message of messages) {
        if (left <= 0) break;
        // A reader that has gone cannot have got it: the offset stays.
        if (!print(context, flags, message)) {
          ended.resolve("signal");
          break;
        }
        left--;
        done++;
      }
      if (left <= 0) ended.resolve("count");
      return done;
    });
    consumer.onRefused = (error) => ended.resolve(error);
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      context.process.onSignal(signal, () => ended.resolve("signal"));
    }
    const timer = flags.timeout === undefined
      ? undefined
      : context.runtime.clock.after(
        flags.timeout * 1000,
        () => ended.resolve("timeout"),
      );
    try {
      await consumer.start();
      if (flags.timeout === undefined) {
        await warnOfUnknown(context, instance, topic);
      }
      const end = await ended.promise;
      if (end instanceof MQClientError) throw end;
      if (end === "timeout") await checkEnough(instance, topic, flags, left);
    } finally {
      timer?.cancel();
      await consumer.stop();
    }
  });
}

/** Brokers silently ignore what follows a whole expression; what is wrong with one they say. */
function warnOfIgnored(context: CliContext, sql: string): void {
  try {
    const { ignored } = new CompiledSelector(sql);
    if (ignored === undefined) return;
    printWarning(
      context,
      `Brokers ignore the end of --sql from position ${ignored.position} on: ${
        shown(ignored.text)
      }`,
    );
  } catch (error) {
    if (!(error instanceof SelectorParseError)) throw error;
  }
}

/** Who waits without end should know what for. */
async function warnOfUnknown(
  context: CliContext,
  instance: MQClientInstance,
  topic: string,
): Promise<void> {
  if (await instance.namesrv.route(topic) !== undefined) return;
  printWarning(context, `Topic ${topic} does not exist yet: waiting for it`);
}

/** Throws CliError when the time was over too soon. */
async function checkEnough(
  instance: MQClientInstance,
  topic: string,
  { count, timeout }: ConsumeFlags,
  left: number,
): Promise<void> {
  if (await instance.namesrv.route(topic) === undefined) {
    throw new CliError(
      `Topic ${topic} does not exist: waited ${timeout} s for it; create it (pocketmq topic create ${topic}), or correct the name`,
    );
  }
  if (count === undefined) return;
  throw new CliError(
    `${
      count - left
    } of ${count} messages came within ${timeout} s: give more by --timeout, or another place to begin by --from`,
  );
}

function optionsOf(topic: string, flags: ConsumeFlags): ConsumerOptions {
  const wrong = topicError(topic) ?? groupError(flags.group);
  if (wrong !== undefined) throw new CliError(wrong, 2);
  if (flags.tag !== undefined && flags.sql !== undefined) {
    throw new CliError("Give one of --tag and --sql, not both", 2);
  }
  return {
    ...DEFAULT_CONSUMER_OPTIONS,
    consumerGroup: flags.group,
    subscriptions: [{
      topic,
      expression: flags.sql ?? flags.tag ?? "*",
      expressionType: flags.sql === undefined ? "TAG" : "SQL92",
    }],
    brokerSuspendMaxTimeMillis: SUSPEND_MS,
    ...placeOf(flags.from),
  };
}

function placeOf(
  from: string,
): { consumeFromWhere: ConsumeFromWhere; consumeTimestampMs: number } {
  if (from === "first") {
    return {
      consumeFromWhere: "CONSUME_FROM_FIRST_OFFSET",
      consumeTimestampMs: 0,
    };
  }
  if (from === "last") {
    return {
      consumeFromWhere: "CONSUME_FROM_LAST_OFFSET",
      consumeTimestampMs: 0,
    };
  }
  return {
    consumeFromWhere: "CONSUME_FROM_TIMESTAMP",
    consumeTimestampMs: parseTime("--from", from, "first, last, or "),
  };
}

/** False when the reader of standard output has gone. */
function print(
  context: CliContext,
  flags: ConsumeFlags,
  message: ConsumedMessage,
): boolean {
  const { process } = context;
  if (flags.json === true) {
    const json = messageJson(messageView(message.record));
    return process.write("stdout", `${JSON.stringify(json)}\n`);
  }
  const { body } = message;
  const line = new Uint8Array(body.length + 1);
  line.set(body);
  line.set(NEWLINE, body.length);
  return process.writeBytes("stdout", line);
}
