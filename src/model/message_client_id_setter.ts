/**
 * MessageClientIDSetter: makes UNIQ_KEY, upper-case hex of these bytes (reference 3.5).
 *
 * | offset | size | type  | field   | note                                    |
 * | -----: | ---: | ----- | ------- | --------------------------------------- |
 * |      0 | 4/16 | bytes | address | of the maker, IPv4 or IPv6              |
 * |   4/16 |    2 | u16   | pid     | low bits                                |
 * |   6/18 |    4 | u32   | maker   | chance; Java: hash of the class loader  |
 * |  10/22 |    4 | u32   | time    | milliseconds since the month began      |
 * |  14/26 |    2 | u16   | counter | wraps                                   |
 *
 * All integers are big-endian.
 */
/** Chance; `Random` of the ports fits. */
interface Chance {
  nextInt(bound: number): number;
}

/** Makes unique keys for one process. */
export class MessageClientIDSetter {
  readonly #prefix: string;
  #counter: number;
  #monthStartMs = 0;
  #nextMonthStartMs = 0;
  #lastMs = -1;
  #lastTimeHex = "";

  constructor(address: Uint8Array, pid: number, random: Chance) {
    let prefix = "";
    for (const byte of address) prefix += hex(byte, 2);
    this.#prefix = prefix + hex(pid & 0xffff, 4) +
      hex(random.nextInt(0x1_0000), 4) + hex(random.nextInt(0x1_0000), 4);
    this.#counter = random.nextInt(0x1_0000);
  }

  /** A key that no other call returned within 65,536 calls of one millisecond. */
  createUniqID(nowMs: number): string {
    if (nowMs !== this.#lastMs) {
      this.#lastMs = nowMs;
      this.#lastTimeHex = hex(this.#sinceMonthStartMs(nowMs) >>> 0, 8);
    }
    this.#counter = (this.#counter + 1) & 0xffff;
    return this.#prefix + this.#lastTimeHex + hex(this.#counter, 4);
  }

  #sinceMonthStartMs(nowMs: number): number {
    if (nowMs >= this.#nextMonthStartMs || nowMs < this.#monthStartMs) {
      const now = new Date(nowMs);
      const year = now.getFullYear();
      const month = now.getMonth();
      this.#monthStartMs = new Date(year, month, 1).getTime();
      this.#nextMonthStartMs = new Date(year, month + 1, 1).getTime();
    }
    return nowMs - this.#monthStartMs;
  }
}

function hex(value: number, digits: number): string {
  return value.toString(16).toUpperCase().padStart(digits, "0");
}
