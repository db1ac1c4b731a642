/** openUserAccess: users and policies of a broker with authenticationEnabled=true, at its start. */
import { PlainAclFiles } from "../auth/accounts/plain_acl_files.ts";
import { AclFileError } from "../auth/yaml_file.ts";
import { AuthError } from "../auth/users/auth_error.ts";
import { AuthStore } from "../auth/users/auth_store.ts";
import { withAccounts, withSuperUsers } from "../auth/users/initial_users.ts";
import { PasswordSeal } from "../auth/users/password_seal.ts";
import { UserAccess } from "../auth/users/user_access.ts";
import { readInitUser } from "../config/auth_keys.ts";
import type { AclOptions, BrokerConfig } from "../config/broker_config.ts";
import type { Clock } from "../io/clock.ts";
import { FileError, type FileSystem } from "../io/file_system.ts";
import type { Logger } from "../io/logger.ts";
import { JsonFile } from "../store/json_file.ts";
import { CliError } from "./cli_error.ts";

/** What it needs. */
export interface UserAccessOpening {
  readonly clock: Clock;
  readonly fileSystem: FileSystem;
  readonly logger: Logger;
}

const UNSIGNED =
  "innerClientAuthenticationCredentials is empty: what this broker asks others, and changes over HTTP, is not signed and is refused where authentication is on, and users are not copied to slaves";

/** Throws CliError when the users cannot be read or written. */
export async function openUserAccess(
  ports: UserAccessOpening,
  { slices }: BrokerConfig,
): Promise<UserAccess> {
  const { acl: options, broker, remotingClient } = slices;
  const { credentials } = remotingClient;
  const { clock, fileSystem, logger } = ports;
  if (credentials === undefined) logger.warn(UNSIGNED);
  const path = `${broker.storePathRootDir}/config/auth.json`;
  const seal = new PasswordSeal(credentials?.secretKey);
  try {
    // A backup would bring back whom somebody has shut out.
    const file = new JsonFile(
      fileSystem,
      path,
      logger,
      "same",
      "create-private",
    );
    const store = new AuthStore({ clock, file, seal });
    await prepare(ports, store, slices);
    return new UserAccess({ clock, logger, store, seal }, {
      authorizationEnabled: options.authorizationEnabled,
      authenticationWhitelist: codesOf(options.authenticationWhitelist),
      authorizationWhitelist: codesOf(options.authorizationWhitelist),
      clusterName: broker.brokerClusterName,
    });
  } catch (error) {
    if (error instanceof AclFileError) throw new CliError(error.message, 2);
    if (!(error instanceof FileError || error instanceof AuthError)) {
      throw error;
    }
    throw new CliError(`Cannot use the users of ${path}: ${error.message}`, 2);
  }
}

/** Adds what the configuration names. */
async function prepare(
  ports: UserAccessOpening,
  store: AuthStore,
  { acl: options, remotingClient }: BrokerConfig["slices"],
): Promise<void> {
  const { credentials } = remotingClient;
  const accounts = accountsOf(ports, options);
  await store.change((table) => {
    const init = readInitUser(options.initAuthenticationUser);
    const inner = credentials && {
      username: credentials.accessKey,
      password: credentials.secretKey,
    };
    const supers = [init, inner].filter((it) => it !== undefined);
    return withAccounts(withSuperUsers(table, supers), accounts);
  });
  const { users } = store.table;
  const inner = credentials && users.get(credentials.accessKey);
  if (inner !== undefined && inner.password !== credentials!.secretKey) {
    ports.logger.warn(
      `innerClientAuthenticationCredentials has another secret than user ${inner.username} of config/auth.json: what this broker asks itself and its pair is refused until both are the same`,
    );
  }
  if (users.size === 0) {
    ports.logger.warn(
      "There is no user and initAuthenticationUser is empty: nobody can come in, set initAuthenticationUser",
    );
  }
}

function accountsOf(ports: UserAccessOpening, options: AclOptions) {
  if (!options.migrateAuthFromV1Enabled) return [];
  const replace = () => Promise.reject(new Error("nothing is written there"));
  const files = new PlainAclFiles(
    { ...ports, replace },
    options.plainAclFile,
  );
  return files.acl.accounts.values();
}

function codesOf(list: string): ReadonlySet<number> {
  const codes = list.split(",").map((it) => it.trim());
  return new Set(codes.filter((it) => it !== "").map(Number));
}
