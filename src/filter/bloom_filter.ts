/**
 * BloomFilter: where a consumer group sets its bits (reference 13.3).
 *
 * Apache's broker keeps them in consumerFilter.json and drops a file whose
 * entries have others; nothing here tests messages by them.
 */
import { murmur3x64 } from "../base/murmur3.ts";

/** As consumerFilter.json has it. */
export interface BloomFilterData {
  readonly bitNum: number;
  readonly bitPos: readonly number[];
}

/** Sized by an error rate and a number of groups. */
export class BloomFilter {
  readonly #hashNum: number;
  readonly #bitNum: number;

  /** `errorRate` is maxErrorRateOfBloomFilter in percent, `num` expectConsumerNumUseFilter. */
  constructor(errorRate: number, num: number) {
    const rate = errorRate / 100;
    this.#hashNum = Math.ceil(Math.log(rate) / Math.log(0.5));
    const bits = Math.ceil(
      num * (Math.log(1 / rate) / Math.log(2)) * (Math.log(Math.E) / Math.LN2),
    );
    this.#bitNum = 8 * Math.ceil(bits / 8);
  }

  /** The bits of `text`, which is `group#topic`. */
  generate(text: string): BloomFilterData {
    const hash = murmur3x64(new TextEncoder().encode(text));
    const low = Number(BigInt.asIntN(32, hash));
    const high = Number(BigInt.asIntN(32, hash >> 32n));
    const bitPos = Array.from({ length: this.#hashNum }, (_, index) => {
      const combined = low + Math.imul(index + 1, high) | 0;
      return (combined < 0 ? ~combined : combined) % this.#bitNum;
    });
    return { bitNum: this.#bitNum, bitPos };
  }
}
