/** The work of `pocketmq config`. */
import type { ConfigUpdate } from "../client/cluster_admin.ts";
import type { MQAdmin } from "../client/mq_admin.ts";
import { type CliContext, printLine } from "./cli_context.ts";
import { CliError } from "./cli_error.ts";
import { targetOf, withAdmin } from "./client_session.ts";
import { printFields, printJson } from "./output.ts";
import { printDone } from "./run_topic.ts";
import type { TargetFlags } from "./topic_command.ts";

/** `config get`: of one broker, since each has its own. */
export async function getConfig(
  context: CliContext,
  key: string | undefined,
  flags: TargetFlags,
): Promise<void> {
  await withAdmin(context, flags, async (admin) => {
    const [address, ...others] = await brokersOf(admin, flags);
    if (address === undefined || others.length > 0) {
      throw new CliError(
        `Several brokers match: give --broker ${
          [address, ...others].join("|")
        }`,
        2,
      );
    }
    const config = await admin.cluster.config(address);
    const shown = key === undefined
      ? [...config].sort(([a], [b]) => a < b ? -1 : 1)
      : [[key, config.get(key)] as const];
    if (key !== undefined && !config.has(key)) {
      throw new CliError(
        `Broker ${address} has no key ${key}: pocketmq config get lists all that it has`,
      );
    }
    printFields(context, flags, shown, Object.fromEntries(shown));
  });
}

/** `config set`. */
export async function setConfig(
  context: CliContext,
  pairs: readonly string[],
  flags: TargetFlags,
): Promise<void> {
  const changes = new Map(pairs.map((pair) => {
    const at = pair.indexOf("=");
    if (at > 0) return [pair.slice(0, at).trim(), pair.slice(at + 1)] as const;
    throw new CliError(`Cannot use ${pair}: give key=value`, 2);
  }));
  await withAdmin(context, flags, async (admin) => {
    const brokers = await brokersOf(admin, flags);
    const updates = new Map<string, ConfigUpdate>();
    for (const address of brokers) {
      const update = await admin.cluster.updateConfig(address, changes);
      updates.set(address, update);
    }
    printUpdates(context, flags, [...changes.keys()].join(", "), updates);
  });
}

/** Throws CliError when a broker has not taken all. */
function printUpdates(
  context: CliContext,
  flags: TargetFlags,
  keys: string,
  updates: ReadonlyMap<string, ConfigUpdate>,
): void {
  const all = [...updates];
  const wrong = all.filter(([, it]) => it.notSet !== "");
  if (flags.json === true) {
    if (wrong.length > 0) context.exitCode = 1;
    const remarks = all.filter(([, { remark }]) => remark !== null)
      .map(([address, { remark }]) => [address, remark]);
    const notSet = wrong.map(([address, it]) => [address, it.notSet]);
    return printJson(context, {
      brokers: [...updates.keys()],
      remarks: Object.fromEntries(remarks),
      notSet: Object.fromEntries(notSet),
    });
  }
  const fine = all.filter(([, it]) => it.notSet === "");
  if (fine.length > 0) {
    const brokers = fine.map(([address]) => address);
    printDone(context, flags, `${keys} is set on`, { brokers });
  }
  for (const [address, { remark }] of fine) {
    if (remark !== null) printLine(context, `${address} says: ${remark}`);
  }
  if (wrong.length === 0) return;
  const said = wrong.map(([address, { notSet, remark }]) =>
    `${address} has not set ${notSet} (${remark ?? "no such key"})`
  );
  throw new CliError(
    `${said.join("; ")}; pocketmq config get shows keys and values`,
  );
}

/** Addresses of the brokers that the flags mean: one, or the masters of a cluster. */
async function brokersOf(
  admin: MQAdmin,
  flags: TargetFlags,
): Promise<string[]> {
  const { brokerAddr, brokerName, clusterName } = targetOf(flags);
  if (brokerAddr !== undefined) return [brokerAddr];
  const rows = await admin.cluster.list();
  const found = rows.filter((it) =>
    it.brokerId === 0 &&
    (brokerName === undefined || it.brokerName === brokerName) &&
    (clusterName === undefined || it.clusterName === clusterName)
  ).map((it) => it.brokerAddr);
  if (found.length > 0) return found;
  throw new CliError(
    `No master broker is registered${
      brokerName === undefined && clusterName === undefined
        ? ""
        : ` under ${brokerName ?? clusterName}`
    }: see pocketmq cluster list, or give --broker host:port`,
  );
}
