/** The work of `pocketmq group running`: what the members of a group say of themselves. */
import type { RunningMember } from "../client/group_members_admin.ts";
import type { MQAdmin } from "../client/mq_admin.ts";
import { messageOf } from "../client/mq_client_error.ts";
import { escaped } from "../base/escaped.ts";
import { type CliContext, printLine } from "./cli_context.ts";
import { CliError } from "./cli_error.ts";
import { withAdmin } from "./client_session.ts";
import type { RunningFlags } from "./group_command.ts";
import { printJson, tableText } from "./output.ts";
import { checkGroupExists } from "./run_group.ts";
import { timeText } from "./time.ts";

/** `group running`. */
export async function runningGroup(
  context: CliContext,
  group: string,
  flags: RunningFlags,
): Promise<void> {
  await withAdmin(context, flags, async (admin) => {
    const clientIds = await membersOf(admin, group, flags.client);
    const answers = await Promise.allSettled(
      clientIds.map((it) =>
        admin.members.runningInfo(group, it, flags.stacks === true)
      ),
    );
    const members = answers.flatMap((it) =>
      it.status === "fulfilled" ? [it.value] : []
    );
    print(context, flags, group, members);
    const silent = answers.flatMap((it, at) =>
      it.status === "rejected" ? [[clientIds[at]!, it.reason] as const] : []
    );
    if (silent.length > 0) {
      throw new CliError(
        silent.map(([id, reason]) => `Client ${id}: ${messageOf(reason)}`)
          .join("\n"),
      );
    }
  });
}

/** The one that was named, or all; throws CliError when there is none. */
export async function membersOf(
  admin: MQAdmin,
  group: string,
  named: string | undefined,
): Promise<string[]> {
  const clientIds = await admin.members.clientIds(group);
  if (clientIds.length === 0) {
    await checkGroupExists(admin, group);
    throw new CliError(
      `Group ${group} exists, but has no member on line: start a consumer of it`,
    );
  }
  if (named === undefined) return clientIds;
  if (clientIds.includes(named)) return [named];
  throw new CliError(
    `Group ${group} has no member ${named} on line; it has ${
      clientIds.join(", ")
    }`,
  );
}

function print(
  context: CliContext,
  flags: RunningFlags,
  group: string,
  members: readonly RunningMember[],
): void {
  if (flags.json === true) {
    printJson(context, {
      group,
      members: members.map(({ clientId, info }) => ({ clientId, ...info })),
    });
    return;
  }
  const head = ["CLIENT", "TOPIC", "BROKER", "QUEUE", "COMMITTED", "WAITING"]
    .concat("LOCKED", "LAST PULL", "LAST CONSUMED");
  printLine(
    context,
    tableText(
      head,
      members.flatMap(({ clientId, info }) =>
        info.queues.map(({ queue, ...it }) => [
          clientId,
          queue.topic,
          queue.brokerName,
          queue.queueId,
          it.commitOffset,
          it.cachedMsgCount,
          it.locked,
          timeText(it.lastPullTimestamp),
          timeText(it.lastConsumeTimestamp),
        ])
      ),
    ),
  );
  for (const { clientId, info } of members) {
    if (info.jstack === null) continue;
    printLine(context, `\nstacks of ${escaped(clientId)}`);
    for (const line of info.jstack.split("\n")) {
      printLine(context, escaped(line).trimEnd());
    }
  }
}
