/** `pocketmq health`: asks /readyz of an admin port, for containers and service managers. */
import type { Command } from "commander";
import { adminUrl, askAdmin, DEFAULT_ADMIN } from "./admin_client.ts";
import { type CliContext, printLine } from "./cli_context.ts";
import { commandOf, withJson } from "./options.ts";

/** The definition. */
export function healthCommand(context: CliContext): Command {
  return withJson(commandOf("health", "exit 0 when the broker is ready"))
    .option("--admin <url>", "admin port", DEFAULT_ADMIN)
    .action(async (flags: { admin: string; json?: boolean }) => {
      await health(context, flags.admin, flags.json === true);
    });
}

async function health(
  context: CliContext,
  admin: string,
  isJson: boolean,
): Promise<void> {
  const url = adminUrl(admin, "/readyz?verbose");
  const answer = await askAdmin(context, url);
  const text = (await answer.text()).trim();
  if (isJson) {
    printLine(context, text.split("\n").join(" "));
  } else {
    printLine(context, healthSentence(text, answer));
  }
  context.exitCode = answer.ok ? 0 : 1;
}

/** The checks of a verbose answer that have something to say, in one sentence. */
export function healthSentence(
  text: string,
  { ok, status }: { readonly ok: boolean; readonly status: number },
): string {
  const word = ok ? "ready" : "not ready";
  try {
    const { checks } = JSON.parse(text) as {
      checks?: { name: string; ok: boolean; detail: string | null }[];
    };
    const told = (checks ?? []).filter((it) => ok ? it.detail !== null : !it.ok)
      .map((it) => it.detail === null ? it.name : `${it.name} (${it.detail})`);
    if (told.length > 0) return `${word}: ${told.join(", ")}`;
  } catch {
    // Not our admin port: the status says enough.
  }
  return ok ? word : `${word}: HTTP ${status}`;
}
