/**
 * RoleChangeBoard: the changes of role that are under way in this pair, the own one and those
 * that others announce; pure. `nowMs` is monotonic.
 *
 * Of two promotions at one time only one may go on, whatever comes first:
 * - Each sets its own notice before it announces it, and announces it before it decides.
 * - Whoever hears of another promotion while its own is under way objects, or remembers the other
 *   one and gives way: the longer log goes on, of equal logs the smaller replication address. One
 *   that has decided always objects.
 * - Whoever remembers another change announces nothing, and does not go on.
 * So of any two, at least one sees the other in time, and both judge alike.
 */
import type { RoleChangeNotice } from "../../protocol/header/role_change_header.ts";

/** A broker that died meanwhile announces no end. */
const NOTICE_MS = 30_000;
/** Of one pair; strangers could name any number. */
const NOTICES_MAX = 8;

interface Heard {
  readonly notice: RoleChangeNotice;
  readonly untilMs: number;
}

/** One per process. */
export class RoleChangeBoard {
  #own: RoleChangeNotice | null = null;
  #isDecided = false;
  /** By remoting address. */
  readonly #others = new Map<string, Heard>();

  /** What is under way here; null: nothing. */
  get own(): RoleChangeNotice | null {
    return this.#own;
  }

  /** A change of the own role begins. */
  begin(notice: RoleChangeNotice): void {
    this.#own = notice;
    this.#isDecided = false;
  }

  /** It has ended, whichever way. */
  end(): void {
    this.#own = null;
    this.#isDecided = false;
  }

  /** Why the own change must wait for another one; null: it need not, and goes on from now on. */
  decide(nowMs: number): string | null {
    const refusal = this.otherReason(nowMs);
    this.#isDecided = refusal === null;
    return refusal;
  }

  /** Another broker announces its change; answers with the objection to it, or null. */
  hear(notice: RoleChangeNotice, nowMs: number): string | null {
    const isKnown = this.#others.delete(notice.brokerAddr);
    if (notice.isOver) return null;
    const own = this.#own;
    const isPromotion = notice.kind === "promotion";
    // To whom it has given way once, it goes on giving way.
    const objects = own !== null && isPromotion && !isKnown &&
      !this.#givesWay(own, notice);
    if (objects) return sentenceOf(own);
    if (this.#others.size >= NOTICES_MAX) {
      this.#others.delete(this.#others.keys().next().value!);
    }
    this.#others.set(notice.brokerAddr, {
      notice,
      untilMs: nowMs + NOTICE_MS,
    });
    return null;
  }

  /** The broker at `brokerAddr` has said that its role does not change. */
  settled(brokerAddr: string): void {
    this.#others.delete(brokerAddr);
  }

  /** What is under way at another broker, in one sentence; null: nothing is known. */
  otherReason(nowMs: number): string | null {
    for (const { notice, untilMs } of this.#others.values()) {
      if (nowMs < untilMs) return sentenceOf(notice);
    }
    return null;
  }

  /** What is under way anywhere, in one sentence; null: nothing is known. */
  reason(nowMs: number): string | null {
    const { kind } = this.#own ?? {};
    return kind === undefined
      ? this.otherReason(nowMs)
      : `This broker is being ${DONE[kind]}`;
  }

  #givesWay(own: RoleChangeNotice, other: RoleChangeNotice): boolean {
    if (own.kind === "demotion" || this.#isDecided) return false;
    const ahead = other.maxOffset - own.maxOffset;
    return ahead > 0 || (ahead === 0 && other.haServerAddr < own.haServerAddr);
  }
}

const DONE = {
  promotion: "promoted to master",
  demotion: "demoted to a slave",
} as const;

function sentenceOf({ brokerAddr, kind }: RoleChangeNotice): string {
  return `Broker ${brokerAddr} is being ${
    DONE[kind]
  }: wait until that has ended`;
}
