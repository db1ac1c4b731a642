/** releaseWhenIdle: gives memory back in the first quiet moment after work. */
import type { Runtime } from "../runtime/runtime.ts";

const WINDOW_MS = 10_000;
/**
 * CPU seconds of one window: below the first a server is idle (alone it uses 0.05), above the
 * second busy. Between them a steady load is served that a pause would hurt.
 */
const IDLE_CPU_SECONDS = 0.15;
const BUSY_CPU_SECONDS = 0.4;

/**
 * Releases at once (the start was work) and after each busy time; then code alone, window by
 * window: the release and the collections of the runtime run through code of their own. Returns
 * how to stop.
 */
export function releaseWhenIdle(
  runtime: Pick<Runtime, "clock" | "host" | "releaseIdleMemory">,
): () => void {
  const { clock, host } = runtime;
  // Not the garbage yet: the first client may be knocking.
  runtime.releaseIdleMemory("code");
  let cpuSeconds = host.cpuSeconds();
  let wasBusy = true;
  const timer = clock.every(WINDOW_MS, () => {
    const usedSeconds = host.cpuSeconds() - cpuSeconds;
    if (usedSeconds > BUSY_CPU_SECONDS) {
      wasBusy = true;
    } else if (usedSeconds < IDLE_CPU_SECONDS) {
      runtime.releaseIdleMemory(wasBusy ? "all" : "code");
      wasBusy = false;
    }
    cpuSeconds = host.cpuSeconds();
  });
  return () => timer.cancel();
}
