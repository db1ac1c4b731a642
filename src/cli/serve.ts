/**
 * serve: the life of a server command, from the first signal handler to the exit code.
 *
 * Invariants
 * - A signal during the start stops as soon as the start is through.
 * - The first SIGTERM or SIGINT drains; a second one, or 10 s, forces.
 */
import { type CliContext, printLine } from "./cli_context.ts";
import { releaseWhenIdle } from "./idle_memory.ts";

/** After this the process ends, drained or not; service managers kill at 10 s. */
const STOP_DEADLINE_MS = 9_500;

/** One bound port. */
export interface ServerListener {
  readonly name:
    | "namesrv"
    | "broker"
    | "vip"
    | "ha"
    | "admin"
    | "metrics";
  /** `host:port` as bound. */
  readonly bound: string;
  /** `host:port` as told to others. */
  readonly advertised: string;
  /** Why that address was chosen. */
  readonly why: string;
  /** Which process of several. */
  readonly node?: string;
}

/** A server that runs. */
export interface RunningServer {
  readonly listeners: readonly ServerListener[];
  /** Never resolves; rejects when the server cannot go on, with what a start would throw. */
  readonly failed?: Promise<never>;
  /** Refuses new work, drains, persists. */
  stop(): Promise<void>;
  /** SIGHUP. */
  reload(): void;
}

/**
 * Starts, announces, and waits for the end. Returns the exit code; throws what `start` throws,
 * and what ends a running server.
 */
export async function serve(
  context: CliContext,
  isJson: boolean,
  start: () => Promise<RunningServer>,
): Promise<number> {
  const stopAsked = Promise.withResolvers<void>();
  let isStopping = false;
  let server: RunningServer | null = null;
  const onStop = () => {
    if (isStopping) context.process.exit(1);
    isStopping = true;
    stopAsked.resolve();
  };
  context.process.onSignal("SIGTERM", onStop);
  context.process.onSignal("SIGINT", onStop);
  context.process.onSignal("SIGHUP", () => server?.reload());
  if (context.process.isChild) {
    void context.process.parentEnded().then(() => isStopping || onStop());
  }
  server = await start();
  if (!isStopping) announce(context, server.listeners, isJson);
  const stopWatching = releaseWhenIdle(context.runtime);
  try {
    await Promise.race([
      stopAsked.promise,
      ...(server.failed ? [server.failed] : []),
    ]);
  } catch (error) {
    await stopWithin(context, server);
    throw error;
  } finally {
    stopWatching();
  }
  return await stopWithin(context, server);
}

async function stopWithin(
  context: CliContext,
  server: RunningServer,
): Promise<number> {
  const late = Promise.withResolvers<"late">();
  const timer = context.runtime.clock.after(
    STOP_DEADLINE_MS,
    () => late.resolve("late"),
  );
  const end = await Promise.race([server.stop(), late.promise]);
  timer.cancel();
  return end === "late" ? 1 : 0;
}

/** Prints one line per listener and `ready in N ms`, or one JSON line. */
export function announce(
  context: CliContext,
  listeners: readonly ServerListener[],
  isJson: boolean,
): void {
  const ms = Math.round(
    context.runtime.clock.monotonicMs() - context.startedMs,
  );
  if (isJson) {
    const shown = listeners.map(({ advertised, bound, name, node }) => ({
      name,
      bound,
      advertised,
      ...(node === undefined ? {} : { node }),
    }));
    printLine(
      context,
      JSON.stringify({ ready: true, ms, listeners: shown }),
    );
    return;
  }
  for (const { advertised, bound, name, node, why } of listeners) {
    const of = node === undefined ? "" : `${node.padEnd(8)} `;
    printLine(
      context,
      `${of}${name.padEnd(8)} ${bound.padEnd(21)} ` +
        `advertised ${advertised} (${why})`,
    );
  }
  printLine(context, `ready in ${ms} ms`);
}

/** Listeners that other machines can reach. */
export function strangersOf(
  listeners: readonly ServerListener[],
): ServerListener[] {
  return listeners.filter((it) =>
    !/^(?:127\.|\[::1\]|localhost:)/.test(it.bound)
  );
}
