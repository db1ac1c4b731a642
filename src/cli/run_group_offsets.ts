/** The work of `pocketmq group reset-offset` and `clone-offset`. */
import { targetOf, withAdmin } from "./client_session.ts";
import { type CliContext } from "./cli_context.ts";
import { CliError } from "./cli_error.ts";
import type { CloneOffsetFlags, ResetOffsetFlags } from "./group_command.ts";
import { printRows } from "./output.ts";
import { checkGroupExists } from "./run_group.ts";
import { printDone } from "./run_topic.ts";
import { parseTime } from "./time.ts";

/** -1 means the end (reference 11.8). */
const END_TIMESTAMP = -1;

/** `group reset-offset`. */
export async function resetOffsetOfGroup(
  context: CliContext,
  group: string,
  flags: ResetOffsetFlags,
): Promise<void> {
  const { topic, broker: brokerName, queue: queueId } = flags;
  const place = placeOf(flags);
  await withAdmin(context, flags, async (admin) => {
    await checkGroupExists(admin, group);
    const queues = await admin.groups.resetOffset({
      group,
      topic,
      ...place,
      isForce: true,
      ...(brokerName === undefined ? {} : { brokerName }),
      ...(queueId === undefined ? {} : { queueId }),
    });
    printRows(
      context,
      flags,
      ["BROKER", "QUEUE", "OFFSET"],
      queues.map((it) => [it.queue.brokerName, it.queue.queueId, it.offset]),
      queues.map(({ queue, offset }) => ({ ...queue, offset })),
    );
  });
}

/** Exactly one of `--to` and `--offset`. */
function placeOf(
  { to, offset, queue }: ResetOffsetFlags,
): { readonly timestamp: number; readonly offset?: number } {
  if ((to === undefined) === (offset === undefined)) {
    throw new CliError("Give one of --to and --offset", 2);
  }
  if (to === undefined) {
    if (queue === undefined) {
      throw new CliError("--offset needs --queue: give the queue's id", 2);
    }
    return { timestamp: END_TIMESTAMP, offset: offset! };
  }
  if (to === "first") return { timestamp: 0 };
  if (to === "last") return { timestamp: END_TIMESTAMP };
  return { timestamp: parseTime("--to", to, "first, last, or ") };
}

/** `group clone-offset`. */
export async function cloneOffsetOfGroup(
  context: CliContext,
  source: string,
  group: string,
  flags: CloneOffsetFlags,
): Promise<void> {
  const { topic } = flags;
  if (source === group) {
    throw new CliError(
      `Cannot copy the offsets of group ${group} to itself: name two groups`,
      2,
    );
  }
  await withAdmin(context, flags, async (admin) => {
    await checkGroupExists(admin, source);
    await checkGroupExists(admin, group);
    const { offsets } = await admin.groups.progress(source);
    const isAny = offsets.some(({ queue, consumerOffset }) =>
      consumerOffset >= 0 && (topic === undefined || queue.topic === topic)
    );
    if (!isAny) {
      const where = topic === undefined ? "any topic" : `topic ${topic}`;
      throw new CliError(
        `Group ${source} has no offset in ${where}, so there is none to copy`,
      );
    }
    const brokers = await admin.groups.cloneOffset(
      { source, group, topic },
      targetOf(flags),
    );
    printDone(
      context,
      flags,
      `offsets of group ${source} are copied to ${group} on`,
      { source, group, topic: topic ?? null, brokers },
    );
  });
}
