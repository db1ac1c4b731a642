/** What a stranger may cost the HTTP server. */

/** Bytes of one request's body; beyond it the answer is 413. */
export const HTTP_BODY_SIZE_MAX = 8 * 1024 * 1024;

/** Seconds without a byte after which a connection is closed; Bun only, Deno has no such setting. */
export const HTTP_IDLE_MAX_SECONDS = 60;
