/** What several store tests build on. */
import type { DispatchRequest } from "../../src/store/dispatch_request.ts";

/** A record of 100 bytes in queue 0 of `T`, stored at 1,000,000 ms, unless said otherwise. */
export function dispatchRequest(
  over: Partial<DispatchRequest> = {},
): DispatchRequest {
  return {
    topic: "T",
    queueId: 0,
    phyOffset: 0,
    size: 100,
    tagsCode: 0,
    storeTimestamp: 1_000_000,
    queueOffset: 0,
    sysFlag: 0,
    preparedTransactionOffset: 0,
    propertiesText: "",
    ...over,
  };
}

/** Properties text with a unique key and, maybe, keys. */
export function keyedProperties(uniqKey: string, keys = ""): string {
  const text = `UNIQ_KEY\u0001${uniqKey}\u0002`;
  return keys === "" ? text : `${text}KEYS\u0001${keys}\u0002`;
}
