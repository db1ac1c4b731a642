/**
 * PocketmqRequestCode: requests that only PocketMQ nodes understand.
 *
 * They start at 31001 and stay below 32768, since the binary header carries
 * the code in 16 bits. An Apache peer answers 3 to each of them.
 */

/** The first code that is ours. */
export const POCKETMQ_REQUEST_CODE_MIN = 31_001;

/** The last code that is ours. */
export const POCKETMQ_REQUEST_CODE_MAX = 32_767;

/** Our own request codes; there are none yet. */
export const PocketmqRequestCode = Object.freeze({});
