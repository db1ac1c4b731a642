/** The work of `pocketmq ha`. */
import { withArticle } from "../base/article.ts";
import type {
  HARoleChange,
  HARoleChanged,
  HAStatus,
} from "../admin/ha_routes.ts";
import { adminJson, adminUrl } from "./admin_client.ts";
import { type CliContext, printLine } from "./cli_context.ts";
import { CliError } from "./cli_error.ts";
import { printJson, tableText } from "./output.ts";

/** Options of `ha status`. */
export interface HAStatusFlags {
  readonly admin: string;
  readonly maxLag?: number;
  readonly watch?: boolean;
  readonly json?: boolean;
}

/** Options of both changes of role. */
interface HARoleFlags {
  readonly admin: string;
  readonly force?: boolean;
  readonly json?: boolean;
}

/** Options of `ha promote`. */
export interface HAPromoteFlags extends HARoleFlags {
  readonly role?: "SYNC_MASTER" | "ASYNC_MASTER";
}

/** Options of `ha demote`. */
export interface HADemoteFlags extends HARoleFlags {
  readonly master?: string;
}

const WATCH_INTERVAL_MS = 2_000;
/** A change stops the broker part (10 s at most) and opens the store again. */
const ROLE_TIMEOUT_MS = 120_000;

/** `ha status`. Exit code 1 when the pair is not as it should be. */
export async function haStatus(
  context: CliContext,
  flags: HAStatusFlags,
): Promise<void> {
  const url = adminUrl(flags.admin, "/admin/ha");
  do {
    const status = await statusOf(context, url);
    if (flags.json === true) printJson(context, status);
    else printLine(context, statusText(status));
    const wrong = outOfBounds(status, flags.maxLag);
    context.exitCode = wrong === null ? 0 : 1;
    if (flags.watch === true) {
      await new Promise<void>((resolve) =>
        context.runtime.clock.after(WATCH_INTERVAL_MS, resolve)
      );
    }
  } while (flags.watch === true);
}

/** `ha promote`. Throws CliError with the sentence of a refusal. */
export async function haPromote(
  context: CliContext,
  flags: HAPromoteFlags,
): Promise<void> {
  const url = adminUrl(flags.admin, "/admin/ha");
  const { role, state } = await statusOf(context, url);
  // A master that another one has overtaken may take its place again.
  if (role !== "SLAVE" && state !== "diverged") {
    throw new CliError(
      `This broker is ${
        withArticle(role)
      }: only a SLAVE can be promoted; give the admin port of the slave by --admin`,
      1,
    );
  }
  await changeRole(context, flags, { role: flags.role ?? "MASTER" });
}

/** `ha demote`. Throws CliError with the sentence of a refusal. */
export async function haDemote(
  context: CliContext,
  flags: HADemoteFlags,
): Promise<void> {
  const { master } = flags;
  await changeRole(context, flags, {
    role: "SLAVE",
    ...(master === undefined ? {} : { masterAddress: master }),
  });
}

async function changeRole(
  context: CliContext,
  { admin, force = false, json }: HARoleFlags,
  change: HARoleChange,
): Promise<void> {
  const changed = await adminJson(context, adminUrl(admin, "/admin/ha/role"), {
    method: "POST",
    body: { ...change, force },
    timeoutMs: ROLE_TIMEOUT_MS,
  }) as HARoleChanged;
  if (json === true) printJson(context, changed);
  else printLine(context, changed.detail);
}

async function statusOf(context: CliContext, url: URL): Promise<HAStatus> {
  const status = await adminJson(context, url) as HAStatus;
  if (typeof status.role === "string") return status;
  throw new CliError(
    `${url.href} is no admin port of a broker: give another by --admin (adminPort, 10913 by default)`,
    1,
  );
}

/** Why the exit code is 1; null when all is well. */
export function outOfBounds(
  status: HAStatus,
  maxLag: number | undefined,
): string | null {
  const { haClientRuntimeInfo: client, haConnectionInfo, state } = status;
  const isLagAllowed = state === "catching-up" && maxLag !== undefined;
  if (state !== "healthy" && !isLagAllowed) return state;
  if (maxLag === undefined) return null;
  const lags = client === null
    ? haConnectionInfo.map((it) => it.diff)
    : [client.diff];
  const isWithin = lags.every((it) => it !== null && it <= maxLag);
  return isWithin ? null : `more than ${maxLag} bytes behind`;
}

/** For people. */
export function statusText(status: HAStatus): string {
  const { brokerId, brokerName, haAddress, reason, role, state } = status;
  const lines = [
    `${role} ${brokerName} (id ${brokerId}) at ${haAddress}: ${state}`,
  ];
  if (status.roleFrom === "haRole.json") {
    lines.push(
      `epoch ${status.epoch}; haRole.json overrides the configuration`,
    );
  }
  if (reason !== null) lines.push(reason);
  if (status.fencingReason) lines.push(status.fencingReason);
  if (status.roleChangeReason) lines.push(status.roleChangeReason);
  lines.push(logLine(status));
  if (status.haClientRuntimeInfo !== null) lines.push(masterTable(status));
  if (status.haConnectionInfo.length > 0) lines.push(slaveTable(status));
  if (status.metadata !== null) lines.push(metadataTable(status.metadata));
  return lines.join("\n");
}

function logLine(status: HAStatus): string {
  const { commitLogMinOffset, flushedOffset, syncMode } = status;
  const end = status.haClientRuntimeInfo?.maxOffset ??
    status.masterCommitLogMaxOffset;
  const parts = [
    `log ${commitLogMinOffset} to ${end}`,
    `flushed ${flushedOffset}`,
  ];
  if (status.master) {
    parts.push(`replicated ${status.replicatedOffset ?? "-"}`);
  }
  if (syncMode !== null) {
    parts.push(
      `${status.pendingSyncRequests} puts wait for a slave`,
      `haSyncMode ${syncMode}`,
    );
  }
  return parts.join(", ");
}

function masterTable({ haClientRuntimeInfo }: HAStatus): string {
  const it = haClientRuntimeInfo!;
  return tableText(
    [
      "MASTER",
      "STATE",
      "REPORTED",
      "BEHIND",
      "LAG MS",
      "BYTES/S",
      "RECONNECTS",
    ],
    [[
      it.masterAddr,
      it.state,
      it.reportedOffset,
      it.diff,
      it.lagMs,
      it.transferredByteInSecond,
      it.reconnects,
    ]],
  );
}

function slaveTable({ haConnectionInfo }: HAStatus): string {
  return tableText(
    ["SLAVE", "STATE", "IN SYNC", "ACKED", "BEHIND", "LAG MS", "BYTES/S"],
    haConnectionInfo.map((it) => [
      it.addr,
      it.state,
      it.inSync ? "yes" : "no",
      it.slaveAckOffset,
      it.diff,
      it.lagMs,
      it.transferredByteInSecond,
    ]),
  );
}

function metadataTable(metadata: NonNullable<HAStatus["metadata"]>): string {
  return tableText(
    ["METADATA", "IN SYNC", "LAST", "ERROR"],
    Object.entries(metadata).map(([set, { error, inSync, lastSyncAt }]) => [
      set,
      inSync === null ? null : inSync ? "yes" : "no",
      lastSyncAt === null ? null : new Date(lastSyncAt).toISOString(),
      error,
    ]),
  );
}
