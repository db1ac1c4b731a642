/** Waits for a condition instead of sleeping for a guess. */

const POLL_MS = 2;
const TIMEOUT_MS = 5000;

/** Resolves with the first truthy answer; throws when the time is up. */
export async function eventually<T>(
  condition: () => T | Promise<T>,
  options: { timeoutMs?: number; message?: string } = {},
): Promise<T> {
  const { timeoutMs = TIMEOUT_MS, message = String(condition) } = options;
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() >= deadline) {
      throw new Error(`Not true within ${timeoutMs} ms: ${message}`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
