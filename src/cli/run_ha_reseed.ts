/** The work of `pocketmq ha reseed`. */
import type { HAReseeded } from "../admin/ha_reseed_routes.ts";
import { adminJson, adminUrl } from "./admin_client.ts";
import { type CliContext, printLine } from "./cli_context.ts";
import { printJson } from "./output.ts";

/** Options of `ha reseed`. */
export interface HAReseedFlags {
  readonly admin: string;
  readonly force?: boolean;
  readonly json?: boolean;
}

/** A stop drains, a copy of what is cut may be big. */
const TIMEOUT_MS = 120_000;

/** Throws CliError with the sentence of a refusal. */
export async function haReseed(
  context: CliContext,
  { admin, force = false, json }: HAReseedFlags,
): Promise<void> {
  const done = await adminJson(context, adminUrl(admin, "/admin/ha/reseed"), {
    method: "POST",
    body: { force },
    timeoutMs: TIMEOUT_MS,
  }) as HAReseeded;
  if (json === true) printJson(context, done);
  else for (const it of linesOf(done)) printLine(context, it);
}

function linesOf(
  { action, asideDirectory, maxOffset, minOffset, reason }: HAReseeded,
): string[] {
  const what = action === "cut"
    ? `The log was cut at ${minOffset}; it ended at ${maxOffset}`
    : `The store with the log from ${minOffset} to ${maxOffset} was taken out; it is copied again from the master's oldest byte`;
  return [
    what,
    `Why: ${reason}`,
    asideDirectory === null
      ? "Nothing of it was kept"
      : `It is kept in ${asideDirectory}; read it with: pocketmq store dump ${asideDirectory}`,
  ];
}
