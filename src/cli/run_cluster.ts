/** The work of `pocketmq cluster`. */
import type { MQAdmin } from "../client/mq_admin.ts";
import { anyAddressOf } from "../client/mq_client_instance.ts";
import type { CliContext } from "./cli_context.ts";
import { CliError } from "./cli_error.ts";
import { targetOf, withAdmin } from "./client_session.ts";
import type { ClientFlags } from "./options.ts";
import { printFields, printRows } from "./output.ts";

/** The first of the three rates of a TPS value. */
function firstRate(text: string | undefined): string {
  const value = Number(text?.split(" ")[0]);
  return Number.isFinite(value) ? value.toFixed(2) : "-";
}

/** `cluster list`. */
export async function listCluster(
  context: CliContext,
  flags: ClientFlags,
): Promise<void> {
  await withAdmin(context, flags, async (admin) => {
    const rows = await admin.cluster.list();
    printRows(
      context,
      flags,
      ["CLUSTER", "BROKER", "ID", "ADDRESS", "VERSION", "IN TPS", "OUT TPS"],
      rows.map((it) => [
        it.clusterName,
        it.brokerName,
        it.brokerId,
        it.brokerAddr,
        it.error ?? it.runtimeInfo.get("brokerVersionDesc"),
        firstRate(it.runtimeInfo.get("putTps")),
        firstRate(it.runtimeInfo.get("getTransferredTps")),
      ]),
      rows,
    );
  });
}

/** The address of an address, or of a broker's name: its master's, else any. */
async function addressOf(admin: MQAdmin, broker: string): Promise<string> {
  const { brokerAddr } = targetOf({ broker });
  if (brokerAddr !== undefined) return brokerAddr;
  const { brokerAddrTable } = await admin.cluster.info();
  const address = anyAddressOf(brokerAddrTable.get(broker));
  if (address !== undefined) return address;
  const names = [...brokerAddrTable.keys()].sort().join(", ");
  throw new CliError(
    `No broker is registered as ${broker}; give host:port${
      names === "" ? "" : `, or one of ${names}`
    }`,
  );
}

/** `cluster status`. */
export async function brokerStatus(
  context: CliContext,
  broker: string,
  flags: ClientFlags,
): Promise<void> {
  await withAdmin(context, flags, async (admin) => {
    const info = await admin.cluster.runtimeInfo(
      await addressOf(admin, broker),
    );
    printFields(
      context,
      flags,
      [...info].sort(([a], [b]) => a < b ? -1 : 1),
      info,
    );
  });
}
