/** The stock clients that are tested: the last 4.9 and the newest 5.x on Maven. */
export const ROCKETMQ_VERSIONS = ["4.9.8", "5.5.0"] as const;
