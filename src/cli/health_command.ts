/** `pocketmq health`: asks /readyz of an admin port, for containers and service managers. */
import type { Command } from "commander";
import { type CliContext, printLine } from "./cli_context.ts";
import { CliError } from "./cli_error.ts";
import { commandOf, withJson } from "./options.ts";

const DEFAULT_ADMIN = "http://127.0.0.1:10913";
const TIMEOUT_MS = 5_000;

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
  const url = readyUrl(admin);
  const answer = await ask(context, url);
  const text = (await answer.text()).trim();
  if (isJson) {
    printLine(context, text.split("\n").join(" "));
  } else {
    printLine(context, answer.ok ? "ready" : sentenceOf(text, answer.status));
  }
  context.exitCode = answer.ok ? 0 : 1;
}

function readyUrl(admin: string): URL {
  try {
    return new URL("/readyz?verbose", admin);
  } catch (error) {
    throw new CliError(
      `Cannot use --admin ${admin}: give a URL as ${DEFAULT_ADMIN}`,
      2,
      { cause: error },
    );
  }
}

async function ask(context: CliContext, url: URL): Promise<Response> {
  const abort = new AbortController();
  const timer = context.runtime.clock.after(TIMEOUT_MS, () => abort.abort());
  try {
    return await fetch(url, { signal: abort.signal });
  } catch (error) {
    const reason = abort.signal.aborted
      ? `no answer within ${TIMEOUT_MS / 1000} s`
      : "nobody listens there";
    throw new CliError(`Cannot reach ${url.origin}: ${reason}`, 1, {
      cause: error,
    });
  } finally {
    timer.cancel();
  }
}

/** The failed checks of a verbose answer, in one sentence. */
function sentenceOf(text: string, status: number): string {
  try {
    const { checks } = JSON.parse(text) as {
      checks?: { name: string; ok: boolean; detail: string | null }[];
    };
    const failed = (checks ?? []).filter((it) => !it.ok).map((it) =>
      it.detail === null ? it.name : `${it.name} (${it.detail})`
    );
    if (failed.length > 0) return `not ready: ${failed.join(", ")}`;
  } catch {
    // Not our admin port: the status says enough.
  }
  return `not ready: HTTP ${status}`;
}
