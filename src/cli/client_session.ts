/** withClient: one client instance for the length of one tool command. */
import {
  DEFAULT_CLIENT_OPTIONS,
  namesrvAddrsOf,
} from "../client/client_options.ts";
import type { AdminTarget } from "../client/admin_target.ts";
import { MQAdmin } from "../client/mq_admin.ts";
import { MQClientInstance } from "../client/mq_client_instance.ts";
import { environmentNameOf } from "../config/config_sources.ts";
import { isHostPort } from "../model/host_port.ts";
import type { CliContext } from "./cli_context.ts";
import { CliError } from "./cli_error.ts";
import { clientTlsOf } from "./client_tls.ts";
import { credentialsOf } from "./credentials.ts";
import type { ClientFlags } from "./options.ts";

const DEFAULT_NAMESRV = "127.0.0.1:9876";
const REQUEST_TIMEOUT_MS = 5_000;

/** The flag, else the variables, else this machine. Throws CliError for what is no address. */
export function namesrvAddrOf(
  context: CliContext,
  flags: ClientFlags,
): string {
  const { env } = context.process;
  const text = flags.namesrv ?? (env[environmentNameOf("namesrvAddr")] ||
    env.NAMESRV_ADDR || DEFAULT_NAMESRV);
  const addresses = namesrvAddrsOf(text);
  const wrong = addresses.length === 0
    ? JSON.stringify(text)
    : addresses.find((it) => !isHostPort(it));
  if (wrong !== undefined) {
    throw new CliError(
      `Cannot use name server ${wrong}: give host:port, several separated by ;`,
      2,
    );
  }
  return text;
}

/** Opens an instance, runs, and closes its connections. */
export async function withClient<T>(
  context: CliContext,
  flags: ClientFlags,
  run: (instance: MQClientInstance) => Promise<T>,
): Promise<T> {
  const { runtime } = context;
  const credentials = await credentialsOf(context, flags);
  // A consumer that is refused again and again must not just be silent.
  const logger = runtime.openLogger({ level: "warn", format: "text" })
    .child("client");
  const clientTls = await clientTlsOf(context, flags, logger);
  const instance = new MQClientInstance(
    {
      ...runtime,
      logger,
      clientTls,
    },
    {
      ...DEFAULT_CLIENT_OPTIONS,
      namesrvAddr: namesrvAddrOf(context, flags),
      mqClientApiTimeout: REQUEST_TIMEOUT_MS,
      remoting: { ...DEFAULT_CLIENT_OPTIONS.remoting, credentials },
    },
  );
  instance.start();
  try {
    return await run(instance);
  } finally {
    await instance.stop();
  }
}

/** As `withClient`, for administration. */
export function withAdmin<T>(
  context: CliContext,
  flags: ClientFlags,
  run: (admin: MQAdmin) => Promise<T>,
): Promise<T> {
  return withClient(
    context,
    flags,
    (instance) => run(new MQAdmin(instance)),
  );
}

/** `--broker` is an address or a name; `--cluster` a name. Throws CliError for what is neither. */
export function targetOf(
  flags: { readonly broker?: string; readonly cluster?: string },
): AdminTarget {
  const { broker, cluster } = flags;
  return {
    ...(broker === undefined
      ? {}
      : isHostPort(broker)
      ? { brokerAddr: broker }
      : { brokerName: brokerNameOf(broker) }),
    ...(cluster === undefined ? {} : { clusterName: cluster }),
  };
}

function brokerNameOf(broker: string): string {
  if (broker !== "" && !broker.includes(":")) return broker;
  throw new CliError(
    `Cannot use broker ${JSON.stringify(broker)}: give its name, or host:port`,
    2,
  );
}
