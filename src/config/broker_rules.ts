/** checkBrokerRules: what must hold between the keys of a broker. */
import { withArticle } from "../base/article.ts";
import type { BrokerValues } from "./broker_config.ts";
import { ConfigError, type ConfigOrigin, throwFirst } from "./config_error.ts";
import { tlsErrors } from "./tls_keys.ts";

type Origins = Readonly<Record<string, ConfigOrigin>>;

/** Throws a ConfigError with all rules that do not hold. */
export function checkBrokerRules(values: BrokerValues, origins: Origins): void {
  const errors: ConfigError[] = [];
  const refuse = (key: keyof BrokerValues & string, hint: string): void => {
    errors.push(new ConfigError(key, String(values[key]), hint, origins[key]));
  };
  checkRole(values, refuse);
  if (values.storePathRootDir.trim() === "") {
    refuse("storePathRootDir", "name a folder");
  }
  if (values.storePathCommitLog.includes(",")) {
    refuse("storePathCommitLog", "one folder is supported, not a list");
  }
  checkPorts(values, refuse);
  checkDisk(values, refuse);
  if (!isLoopback(values.adminListenAddress) && values.adminToken === "") {
    refuse(
      "adminListenAddress",
      "give a loopback address, as 127.0.0.1; one that strangers may reach needs adminToken (16 characters or more)",
    );
  }
  if (
    values.maxStoreBytes > 0 &&
    values.maxStoreBytes < values.mappedFileSizeCommitLog
  ) {
    refuse(
      "maxStoreBytes",
      `give 0 (no limit), or at least one file of mappedFileSizeCommitLog=${values.mappedFileSizeCommitLog}`,
    );
  }
  if (values.accessKey !== "" && values.secretKey === "") {
    refuse("accessKey", "set its secretKey too");
  }
  if (values.accessKey === "" && values.secretKey !== "") {
    errors.push(
      new ConfigError(
        "secretKey",
        "***",
        "set its accessKey too",
        origins.secretKey,
      ),
    );
  }
  checkAuth(values, refuse);
  checkSizes(values, origins, refuse);
  errors.push(...tlsErrors(values, origins));
  const { allAckInSyncStateSet, inSyncReplicas, minInSyncReplicas } = values;
  if (minInSyncReplicas > inSyncReplicas && !allAckInSyncStateSet) {
    refuse(
      "minInSyncReplicas",
      `give inSyncReplicas=${inSyncReplicas} or less: a put waits for no more copies than that`,
    );
  }
  throwFirst(errors);
}

function checkAuth(
  values: BrokerValues,
  refuse: (key: keyof BrokerValues & string, hint: string) => void,
): void {
  if (values.authorizationEnabled && !values.authenticationEnabled) {
    refuse(
      "authorizationEnabled",
      "set authenticationEnabled=true too: without signatures everybody is who it says",
    );
  }
  if (values.authenticationEnabled && values.aclEnable) {
    refuse(
      "authenticationEnabled",
      "aclEnable=true is set too: take one of both; migrateAuthFromV1Enabled=true makes users of the accounts in plainAclFile",
    );
  }
  if (values.migrateAuthFromV1Enabled && !values.authenticationEnabled) {
    refuse("migrateAuthFromV1Enabled", "set authenticationEnabled=true too");
  }
  if (
    values.accessKey !== "" &&
    values.innerClientAuthenticationCredentials !== ""
  ) {
    refuse(
      "accessKey",
      "innerClientAuthenticationCredentials is set too: take one of both",
    );
  }
}

/** Throws a ConfigError for a change of a running broker that is more than a change of a key. */
export function checkRoleChange(
  from: BrokerValues["brokerRole"],
  to: BrokerValues["brokerRole"],
): void {
  if (from === to || (from !== "SLAVE" && to !== "SLAVE")) return;
  throw new ConfigError(
    "brokerRole",
    to,
    from === "SLAVE"
      ? "this broker is a SLAVE; `pocketmq ha promote` makes it a master"
      : `this broker is ${
        withArticle(from)
      }; \`pocketmq ha demote\` makes it a SLAVE`,
  );
}

/** Bytes of a record beside its body: topic, properties, and the file's end mark. */
const RECORD_OVERHEAD = 192 * 1024;

/** A message must fit into one file; the key that somebody has set is to blame. */
function checkSizes(
  { mappedFileSizeCommitLog, maxMessageSize }: BrokerValues,
  origins: Origins,
  refuse: Refuse,
): void {
  const least = maxMessageSize + RECORD_OVERHEAD;
  if (least <= mappedFileSizeCommitLog) return;
  if (origins.maxMessageSize?.kind === "default") {
    const most = mappedFileSizeCommitLog - RECORD_OVERHEAD;
    const lower = most > 0 ? `, or set maxMessageSize=${most} or less` : "";
    refuse(
      "mappedFileSizeCommitLog",
      `a message of maxMessageSize=${maxMessageSize} and its properties must fit into one file: give ${least} or more${lower}`,
    );
  } else {
    refuse(
      "maxMessageSize",
      `a message must fit into one file of mappedFileSizeCommitLog=${mappedFileSizeCommitLog}`,
    );
  }
}

type Refuse = (key: keyof BrokerValues & string, hint: string) => void;

/** A slave has a master's name and an id of its own; masters are number 0. */
function checkRole(values: BrokerValues, refuse: Refuse): void {
  const { brokerId, brokerRole } = values;
  if (brokerRole === "SLAVE" && brokerId === 0) {
    refuse(
      "brokerId",
      "a SLAVE has a brokerId above 0, and its master's brokerName",
    );
  }
  if (brokerRole !== "SLAVE" && brokerId !== 0) {
    refuse("brokerId", `a master (brokerRole=${brokerRole}) has brokerId 0`);
  }
  if (
    brokerRole === "SLAVE" && values.namesrvAddr === "" &&
    values.haMasterAddress === ""
  ) {
    refuse(
      "brokerRole",
      "a SLAVE finds its master by namesrvAddr or by haMasterAddress; set one",
    );
  }
  if (values.haSendHeartbeatInterval >= values.haHousekeepingInterval) {
    refuse(
      "haSendHeartbeatInterval",
      `it must be below haHousekeepingInterval=${values.haHousekeepingInterval}, or links end while they are idle`,
    );
  }
}

function checkPorts(values: BrokerValues, refuse: Refuse): void {
  const { listenPort } = values;
  if (listenPort !== 0 && (listenPort < 3 || listenPort > 65_534)) {
    refuse(
      "listenPort",
      "give 0 or 3 to 65534, as listenPort-2 and listenPort+1 are used too",
    );
  }
  const haPort = values.haListenPort || (listenPort && listenPort + 1);
  const taken = new Map<number, string>();
  const claim = (key: keyof BrokerValues & string, port: number): void => {
    if (port === 0) return;
    const owner = taken.get(port);
    if (owner !== undefined) {
      refuse(key, `port ${port} is already ${owner}; give another`);
    }
    taken.set(port, key);
  };
  claim("listenPort", listenPort);
  if (listenPort !== 0) taken.set(listenPort - 2, "listenPort-2 (VIP)");
  claim("haListenPort", haPort);
  if (values.adminEnable) claim("adminPort", values.adminPort);
}

function checkDisk(values: BrokerValues, refuse: Refuse): void {
  if (values.diskSpaceWarningLevelRatio < values.diskSpaceCleanForciblyRatio) {
    refuse(
      "diskSpaceWarningLevelRatio",
      `it must not be below diskSpaceCleanForciblyRatio=${values.diskSpaceCleanForciblyRatio}`,
    );
  }
}

/** True for 127/8, ::1 and localhost. */
export function isLoopback(address: string): boolean {
  return /^(?:127(?:\.\d{1,3}){3}|::1|\[::1\]|localhost)$/i.test(address);
}
