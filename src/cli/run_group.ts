/** The work of `pocketmq group`. */
import type { MQAdmin } from "../client/mq_admin.ts";
import { createSubscriptionGroupConfig } from "../model/subscription_group_config.ts";
import { groupError, isSystemGroup } from "../model/validators.ts";
import { type CliContext, printLine } from "./cli_context.ts";
import { CliError } from "./cli_error.ts";
import { targetOf, withAdmin } from "./client_session.ts";
import type { CreateGroupFlags, LagFlags } from "./group_command.ts";
import type { ClientFlags } from "./options.ts";
import { printRows, tableText } from "./output.ts";
import { printDone } from "./run_topic.ts";
import { timeText } from "./time.ts";
import type { TargetFlags } from "./topic_command.ts";

/** `group list`. */
export async function listGroups(
  context: CliContext,
  flags: TargetFlags,
): Promise<void> {
  await withAdmin(context, flags, async (admin) => {
    const groups = [...await admin.groups.list()];
    printRows(
      context,
      flags,
      ["GROUP", "BROKERS", "CONSUME", "RETRIES"],
      groups.map(([group, brokers]) => [
        group,
        brokers.map((it) => it.brokerName).join(","),
        brokers[0]!.config.consumeEnable,
        brokers[0]!.config.retryMaxTimes,
      ]),
      groups.map(([group, brokers]) => ({ group, brokers })),
    );
  });
}

/** Throws CliError when no broker has the group. */
export async function checkGroupExists(
  admin: MQAdmin,
  group: string,
): Promise<void> {
  if (await admin.groups.exists(group)) return;
  throw new CliError(
    `Group ${group} does not exist: see pocketmq group list, or create it`,
  );
}

/** `group show`. */
export async function showGroup(
  context: CliContext,
  group: string,
  flags: ClientFlags,
): Promise<void> {
  await withAdmin(context, flags, async (admin) => {
    const connection = await admin.groups.connections(group);
    if (connection === undefined) {
      await checkGroupExists(admin, group);
      throw new CliError(
        `Group ${group} exists, but has no member on line: start a consumer of it; pocketmq group lag shows how far it is`,
      );
    }
    const subscriptions = [...connection.subscriptionTable.values()];
    printRows(
      context,
      flags,
      ["CLIENT", "ADDRESS", "LANGUAGE", "VERSION"],
      connection.connectionSet.map((it) => [
        it.clientId,
        it.clientAddr,
        it.language,
        it.version,
      ]),
      { group, ...connection },
    );
    if (flags.json === true) return;
    printLine(context, "");
    printLine(
      context,
      tableText(
        ["TOPIC", "TYPE", "EXPRESSION"],
        subscriptions.map((it) => [it.topic, it.expressionType, it.subString]),
      ),
    );
  });
}

/** `group lag`. */
export async function lagOfGroup(
  context: CliContext,
  group: string,
  flags: LagFlags,
): Promise<void> {
  await withAdmin(context, flags, async (admin) => {
    const progress = await admin.groups.progress(group);
    if (progress.offsets.length === 0) await checkGroupExists(admin, group);
    const queues = progress.offsets.filter((it) =>
      flags.topic === undefined || it.queue.topic === flags.topic
    ).map(({ queue, ...it }) => ({
      ...queue,
      ...it,
      lag: Math.max(0, it.brokerOffset - it.consumerOffset),
    }));
    // Of a group that never committed anything nobody knows what it lacks.
    const totalLag = queues.length === 0
      ? null
      : queues.reduce((sum, it) => sum + it.lag, 0);
    printRows(
      context,
      flags,
      ["TOPIC", "BROKER", "QUEUE", "END", "CONSUMED", "LAG", "LAST MESSAGE"],
      queues.map((it) => [
        it.topic,
        it.brokerName,
        it.queueId,
        it.brokerOffset,
        it.consumerOffset,
        it.lag,
        timeText(it.lastTimestamp),
      ]),
      { group, totalLag, consumeTps: progress.consumeTps, queues },
    );
    if (flags.json === true) return;
    printLine(context, `total lag ${totalLag ?? "unknown"}`);
  });
}

/** `group create`. */
export async function createGroup(
  context: CliContext,
  group: string,
  flags: CreateGroupFlags,
): Promise<void> {
  const wrong = groupError(group);
  if (wrong !== undefined) throw new CliError(wrong, 2);
  const config = createSubscriptionGroupConfig(group, {
    retryMaxTimes: flags.retryMaxTimes,
    consumeEnable: flags.consume,
    consumeBroadcastEnable: flags.broadcast,
  });
  await withAdmin(context, flags, async (admin) => {
    const brokers = await admin.groups.create(config, targetOf(flags));
    printDone(context, flags, `group ${group} is on`, { group, brokers });
  });
}

/** `group delete`. */
export async function deleteGroup(
  context: CliContext,
  group: string,
  flags: TargetFlags,
): Promise<void> {
  if (isSystemGroup(group)) {
    throw new CliError(
      `Cannot delete group ${group}: it belongs to the system; name a group of your own`,
      2,
    );
  }
  await withAdmin(context, flags, async (admin) => {
    await checkGroupExists(admin, group);
    const brokers = await admin.groups.delete(group, targetOf(flags));
    printDone(context, flags, `group ${group} is deleted on`, {
      group,
      brokers,
    });
  });
}
