/** releaseWhenIdle: gives memory back in the first quiet moment after work. */
import type { Runtime } from "../runtime/runtime.ts";

const WINDOW_MS = 10_000;
/**
 * CPU seconds of one window: below the first a server is idle (alone it uses 0.05), above the
 * second busy. Between them a steady load is served that a pause would hurt.
 */
const IDLE_CPU_SECONDS = 0.15;
const BUSY_CPU_SECONDS = 0.4;
const CODE_WINDOWS = 6;

/**
 * Releases at once (the start was work) and after each busy time; then code alone, a window later,
 * for the release runs through code of its own, and once a minute, for the runtime collects
 * garbage when it likes. Returns how to stop.
 */
export function releaseWhenIdle(
  runtime: Pick<Runtime, "clock" | "host" | "releaseIdleMemory">,
): () => void {
  const { clock, host } = runtime;
  // Not the garbage yet: the first client may be knocking.
  runtime.releaseIdleMemory("code");
  let cpuSeconds = host.cpuSeconds();
  let idleWindows = 0;
  const timer = clock.every(WINDOW_MS, () => {
    const usedSeconds = host.cpuSeconds() - cpuSeconds;
    if (usedSeconds > BUSY_CPU_SECONDS) {
      idleWindows = 0;
    } else if (usedSeconds < IDLE_CPU_SECONDS) {
      idleWindows++;
      if (idleWindows === 1) runtime.releaseIdleMemory("all");
      else if (idleWindows === 2 || idleWindows % CODE_WINDOWS === 0) {
        runtime.releaseIdleMemory("code");
      }
    }
    cpuSeconds = host.cpuSeconds();
  });
  return () => timer.cancel();
}
