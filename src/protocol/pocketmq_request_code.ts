/**
 * PocketmqRequestCode: requests that only PocketMQ nodes understand.
 *
 * They start at 31001 and stay below 32768, since the binary header carries
 * the code in 16 bits. An Apache peer answers 3 to each of them.
 */

/** Our own request codes by name; there are none yet. */
export const PocketmqRequestCode: Readonly<Record<string, number>> = Object
  .freeze({});
