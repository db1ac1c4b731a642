/** The version that `--version`, the banner and `/openapi.json` state. */
export const POCKETMQ_VERSION = "0.1.0";
