/**
 * HAAdmission: holds the first report of a slave until somebody has looked whether it may be
 * served, as its file sizes may differ (DESIGN decision 7). A slave that is sent nothing reports
 * the same offset again and again: the first report is enough.
 */
import { REPORT_HEADER_SIZE } from "./report_header.ts";

/** Between two looks at a slave that was refused. */
const ASK_AGAIN_MS = 2_000;

/** One sentence against the slave; null for it. */
export type AdmissionAnswer = string | null;

/** The gate of one link. */
export class HAAdmission {
  /** Why the slave is not served; null while nothing is known against it. */
  refusal: AdmissionAnswer = null;
  readonly #ask: () => AdmissionAnswer | Promise<AdmissionAnswer>;
  readonly #onAnswer: (isNews: boolean) => void;
  readonly #report = new Uint8Array(REPORT_HEADER_SIZE);
  #reportSize = 0;
  #droppedSize = 0;
  #isAdmitted = false;
  #isAsking = false;
  #nextAskMs = Infinity;

  /** `onAnswer` is called after each answer. */
  constructor(
    ask: () => AdmissionAnswer | Promise<AdmissionAnswer>,
    onAnswer: (isNews: boolean) => void,
  ) {
    this.#ask = ask;
    this.#onAnswer = onAnswer;
  }

  get isAdmitted(): boolean {
    return this.#isAdmitted;
  }

  /** What was held; to be read once, when admitted. */
  get report(): Uint8Array {
    return this.#report;
  }

  /** Bytes of a slave that is not admitted yet. */
  hold(bytes: Uint8Array, nowMs: number): void {
    const wasComplete = this.#reportSize === REPORT_HEADER_SIZE;
    const taken = bytes.subarray(0, REPORT_HEADER_SIZE - this.#reportSize);
    this.#report.set(taken, this.#reportSize);
    this.#reportSize += taken.length;
    this.#droppedSize += bytes.length - taken.length;
    if (wasComplete || this.#reportSize < REPORT_HEADER_SIZE) return;
    this.#askNow(nowMs);
  }

  /** What is left of a report of which the first part was dropped goes too. */
  rest(bytes: Uint8Array): Uint8Array {
    const begun = this.#droppedSize % REPORT_HEADER_SIZE;
    if (begun === 0) return bytes;
    const skipped = Math.min(REPORT_HEADER_SIZE - begun, bytes.length);
    this.#droppedSize += skipped;
    return bytes.subarray(skipped);
  }

  tick(nowMs: number): void {
    if (nowMs >= this.#nextAskMs && !this.#isAsking) this.#askNow(nowMs);
  }

  #askNow(nowMs: number): void {
    this.#nextAskMs = nowMs + ASK_AGAIN_MS;
    const answer = this.#ask();
    if (!(answer instanceof Promise)) return this.#settle(answer);
    this.#isAsking = true;
    // Nothing is known against a slave that cannot be asked.
    answer.catch(() => null).then((it) => {
      this.#isAsking = false;
      this.#settle(it);
    });
  }

  #settle(refusal: AdmissionAnswer): void {
    const isNews = refusal !== this.refusal;
    this.refusal = refusal;
    this.#isAdmitted = refusal === null;
    this.#onAnswer(isNews);
  }
}
