/** The keys of POP consumption (reference 15.1), spelled as Apache spells them. */
import type { PopOptions } from "../broker/pop/pop_options.ts";
import { choice, type ConfigKey, flag, integer } from "./config_key.ts";

const LIVE = { isLive: true } as const;

/** Every key of PopOptions. */
export const POP_KEYS = {
  defaultMessageRequestMode: choice(
    ["PULL", "POP"],
    "PULL",
    "How groups without a mode of their own consume, if clientRebalance is false",
    LIVE,
  ),
  defaultPopShareQueueNum: integer(
    -1,
    "Consumers that share a queue by POP beside its own; below 1: all",
    { ...LIVE, min: -1 },
  ),
  serverLoadBalancerEnable: flag(
    true,
    "Share queues among the consumers of a group (request 400)",
    LIVE,
  ),
  reviveQueueNum: integer(8, "Queues of POP's revive log", {
    min: 1,
    max: 128,
  }),
  popPollingSize: integer(
    1_024,
    "POP requests held at once for one queue and group",
    { ...LIVE, min: 1 },
  ),
  maxPopPollingSize: integer(100_000, "POP requests held at once", {
    ...LIVE,
    min: 1,
  }),
  popFromRetryProbability: integer(
    20,
    "Percent of POP requests that look at the retry topic first",
    { ...LIVE, max: 100 },
  ),
  enableRetryTopicV2: flag(
    false,
    "POP's retry topics are %RETRY%group+topic instead of %RETRY%group_topic",
    LIVE,
  ),
  retrieveMessageFromPopRetryTopicV1: flag(
    true,
    "With enableRetryTopicV2: read the older retry topics too",
    LIVE,
  ),
  popResponseReturnActualRetryTopic: flag(
    false,
    "Messages of POP's retry topics keep that topic",
    LIVE,
  ),
  enablePopMessageThreshold: flag(
    false,
    "Respect popInflightMessageThreshold",
    LIVE,
  ),
  popInflightMessageThreshold: integer(
    10_000,
    "Unacknowledged POP messages of a queue and group, beyond which it gives no more",
    { ...LIVE, min: 1 },
  ),
  initPopOffsetByCheckMsgInMem: flag(
    true,
    "A new POP group with initMode max begins at 0 of a queue that is in memory",
    LIVE,
  ),
} as const satisfies {
  readonly [P in keyof PopOptions]: ConfigKey<PopOptions[P]>;
};
