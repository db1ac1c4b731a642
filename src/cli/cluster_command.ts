/** `pocketmq cluster`: the brokers that the name servers know. */
import type { Command } from "commander";
import type { CliContext } from "./cli_context.ts";
import { type ClientFlags, commandOf, withClientFlags } from "./options.ts";

/** The definition. */
export function clusterCommand(context: CliContext): Command {
  const actions = () => import("./run_cluster.ts");
  const command = commandOf("cluster", "brokers that the name servers know");
  command.addCommand(
    withClientFlags(commandOf("list", "clusters, brokers and their traffic"))
      .action(async (flags: ClientFlags) =>
        (await actions()).listCluster(context, flags)
      ),
  );
  command.addCommand(
    withClientFlags(commandOf("status", "everything one broker says of itself"))
      .argument("<broker>", "name, or host:port")
      .action(async (broker: string, flags: ClientFlags) =>
        (await actions()).brokerStatus(context, broker, flags)
      ),
  );
  return command;
}
