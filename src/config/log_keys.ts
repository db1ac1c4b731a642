/** Keys of PocketMQ's own: logging and the admin port. */
import { choice, flag, port, size, text } from "./config_key.ts";
import { host } from "./host_key.ts";

const LIVE = { isLive: true } as const;

/** How log lines are written. */
export const LOG_KEYS = {
  logLevel: choice(
    ["debug", "info", "warn", "error"],
    "info",
    "Least level that is written",
  ),
  logFormat: choice(
    ["auto", "text", "json"],
    "auto",
    "auto: text on a terminal, else one JSON object a line",
  ),
} as const;

/** The admin port. */
export const ADMIN_KEYS = {
  adminEnable: flag(true, "Serve the HTTP admin API and the dashboard"),
  adminPort: port(10_913, "Port of the admin API; 0 takes a free one"),
  adminListenAddress: host(
    "127.0.0.1",
    "Address of the admin API; other than loopback needs adminToken",
  ),
  adminToken: text("", "Bearer token that the admin API asks for", {
    isSecret: true,
    errorOf: (token) =>
      token === "" || /^[\x21-\x7e]{16,256}$/.test(token)
        ? undefined
        : "give 16 to 256 printable characters without spaces",
  }),
  adminBodySizeMax: size(
    6 * 1024 * 1024,
    "Bytes of one request body of the admin API",
    { ...LIVE, min: 1024, max: 8 * 1024 * 1024 },
  ),
} as const;
