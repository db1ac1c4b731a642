/** The keys of the HA room, spelled as Apache spells them; both 4.9 and 5.x spellings are read. */
import type { HAOptions } from "../ha/ha_options.ts";
import {
  addresses,
  choice,
  type ConfigKey,
  flag,
  integer,
  millis,
  size,
  text,
} from "./config_key.ts";

const LIVE = { isLive: true } as const;
const MIB = 1024 * 1024;

/** One `host:port`. */
function oneAddressError(value: string): string | undefined {
  return value.includes(";")
    ? "give one host:port"
    : addresses("", "").schema.safeParse(value).success
    ? undefined
    : "give host:port";
}

/** Addresses and blocks; a name would have to be asked for at every connection. */
function peersError(value: string): string | undefined {
  const wrong = value.split(";").map((it) => it.trim()).find((it) =>
    it !== "" &&
    !/^(?:[\d.]{7,15}|(?=[^/]*:)[0-9a-f:.]{2,45})(?:\/\d{1,3})?$/i.test(it)
  );
  return wrong === undefined
    ? undefined
    : `give addresses or blocks as 10.0.0.0/24, several separated by ";" ("${wrong}" is none)`;
}

const ROLE_KEYS = {
  haMasterAddress: text(
    "",
    "Replication address of the master; empty: as the name servers say",
    { errorOf: oneAddressError },
  ),
  masterAddress: text(
    "",
    "Remoting address of the master; empty: as the name servers say, else replication port - 1",
    { errorOf: oneAddressError },
  ),
  haBootstrap: choice(
    ["last", "min"],
    "last",
    "Where an empty slave begins: last: the newest file of its master, min: the oldest",
  ),
  haAutoReseed: flag(
    true,
    "A slave that ends below its master's first byte moves its store aside and begins anew there",
    LIVE,
  ),
  haAllowedPeers: text(
    "",
    "Addresses or blocks that may connect to the replication port; empty: all",
    { ...LIVE, errorOf: peersError },
  ),
  haAckAfterFlush: flag(
    false,
    "A slave acknowledges what it has flushed, not what it has appended",
    LIVE,
  ),
} as const;

const LINK_KEYS = {
  haSendHeartbeatInterval: millis(5_000, "Between two heartbeats of a link", {
    ...LIVE,
    min: 100,
  }),
  haHousekeepingInterval: millis(
    20_000,
    "Silence after which a replication link is closed",
    { ...LIVE, min: 200 },
  ),
  haTransferBatchSize: size(MIB, "Bytes of one transfer at most", {
    ...LIVE,
    min: 1024,
  }),
  haMaxInFlightBytes: size(
    8 * MIB,
    "Bytes sent to a slave and not yet acknowledged at most",
    { ...LIVE, min: 64 * 1024 },
  ),
  haFlowControlEnable: flag(
    false,
    "Keep each link below maxHaTransferByteInSecond",
    LIVE,
  ),
  maxHaTransferByteInSecond: size(
    100 * MIB,
    "Bytes per second of one link, with haFlowControlEnable",
    { ...LIVE, min: 1024 },
  ),
} as const;

const SYNC_KEYS = {
  haSlaveFallbehindMax: size(
    256 * MIB,
    "Bytes behind from which a slave is not in sync",
    { ...LIVE, min: 1, aliases: ["haMaxGapNotInSync"] },
  ),
  haPendingSyncRequestsMax: integer(
    100_000,
    "Puts of a SYNC_MASTER that wait for slaves at once",
    { min: 1 },
  ),
  slaveTimeout: millis(3_000, "A SYNC_MASTER's put waits for slaves at most", {
    ...LIVE,
    min: 1,
  }),
  inSyncReplicas: integer(
    2,
    "Copies that a SYNC_MASTER's put waits for, its own included; 1 waits for none",
    { ...LIVE, min: 1, max: 100 },
  ),
  minInSyncReplicas: integer(
    1,
    "Copies that must be in sync, else a SYNC_MASTER refuses to store",
    { ...LIVE, min: 1, max: 100 },
  ),
  enableAutoInSyncReplicas: flag(
    false,
    "Wait for as many copies as are in sync, at least minInSyncReplicas",
    LIVE,
  ),
  allAckInSyncStateSet: flag(false, "Wait for every slave in sync", LIVE),
  haSyncMode: choice(
    ["strict", "degrade", "async"],
    "strict",
    "SYNC_MASTER without a slave: strict says so, degrade acknowledges alone after haDegradeAfterMs, async never waits",
    LIVE,
  ),
  haDegradeAfterMs: millis(
    10_000,
    "Time without a slave in sync after which degrade acknowledges alone",
    LIVE,
  ),
} as const;

/** The keys of HAOptions that the broker room does not have. */
export const HA_KEYS = {
  ...ROLE_KEYS,
  ...LINK_KEYS,
  ...SYNC_KEYS,
} as const satisfies {
  readonly [P in Exclude<keyof HAOptions, "haListenPort">]: ConfigKey<
    HAOptions[P]
  >;
};
