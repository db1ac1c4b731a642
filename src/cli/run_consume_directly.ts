/** The work of `pocketmq message consume-directly`. */
import { decodeMessageId, messageIdProblem } from "../model/message_id.ts";
import { formatSocketAddress } from "../model/socket_address.ts";
import type { CliContext } from "./cli_context.ts";
import { CliError } from "./cli_error.ts";
import { withAdmin } from "./client_session.ts";
import type { ConsumeDirectlyFlags } from "./message_command.ts";
import { printFields } from "./output.ts";
import { membersOf } from "./run_group_members.ts";

/** `message consume-directly`: exit code 1 unless the member took the message. */
export async function consumeDirectly(
  context: CliContext,
  id: string,
  flags: ConsumeDirectlyFlags,
): Promise<void> {
  const { group } = flags;
  const decoded = decodeMessageId(id);
  if (decoded === undefined) {
    throw new CliError(
      `Cannot use message id ${id}: ${
        messageIdProblem(id)
      }; give an offset id, as message show prints`,
      2,
    );
  }
  await withAdmin(context, flags, async (admin) => {
    const clientIds = await membersOf(admin, group, flags.client);
    if (clientIds.length > 1) {
      throw new CliError(
        `Group ${group} has several members, choose one: --client ${
          clientIds.join("|")
        }`,
      );
    }
    const message = await admin.messages.viewByOffsetId(id);
    if (message === undefined) {
      throw new CliError(`No broker has a message with offset id ${id}`);
    }
    const [clientId] = clientIds;
    const result = await admin.members.consumeDirectly({
      group,
      clientId: clientId!,
      topic: message.record.topic,
      offsetMsgId: id,
      address: formatSocketAddress(decoded.storeHost),
    });
    printFields(
      context,
      flags,
      [
        ["client", clientId],
        ["result", result.consumeResult],
        ["remark", result.remark],
        ["milliseconds", result.spentTimeMills],
      ],
      { clientId, ...result },
    );
    const isTaken = ["CR_SUCCESS", "CR_COMMIT"].includes(result.consumeResult);
    if (!isTaken) context.exitCode = 1;
  });
}
