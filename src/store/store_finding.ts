/** StoreFinding: one thing that a look into a store found to be wrong. */

/** What kind of thing; stable names for scripts. */
export type StoreFindingKind =
  | "foreign-file"
  | "wrong-size"
  | "file-gap"
  | "corrupt-record"
  | "torn-tail"
  | "queue-offset"
  | "unit-missing"
  | "unit-wrong"
  | "unit-dangling"
  | "index-header"
  | "index-entry"
  | "index-missing"
  | "index-slot"
  | "checkpoint"
  | "log-missing"
  | "config-file"
  | "config-entry"
  | "in-use";

/**
 * `warning`: normal in a store that was not stopped cleanly. `note`: nothing is wrong, but not
 * everything was looked at.
 */
export interface StoreFinding {
  readonly severity: "error" | "warning" | "note";
  readonly kind: StoreFindingKind;
  /** The file, or the folder. */
  readonly path: string;
  /** In a log or a queue its own offset, else the byte in the file; null when it has none. */
  readonly offset: number | null;
  readonly message: string;
  /** What follows from this one and is not counted by itself; the first of many. */
  readonly followUps?: readonly StoreFinding[];
}

const FOLLOW_UPS_MAX = 20;

/** A part of the log that cannot be read, and what points into it. */
interface BrokenSpan {
  readonly from: number;
  readonly to: number;
  /** Where its finding stands in the list; -1 when it was left out. */
  readonly place: number;
  readonly followUps: StoreFinding[];
  followUpCount: number;
}

/** Collects findings up to a limit and counts the rest. */
export class StoreFindings {
  readonly list: StoreFinding[] = [];
  omitted = 0;
  errorCount = 0;
  /** In the order of the log. */
  readonly #spans: BrokenSpan[] = [];

  constructor(private readonly findingsMax: number) {}

  add(finding: StoreFinding): void {
    if (finding.severity === "error") this.errorCount += 1;
    if (this.list.length < this.findingsMax) this.list.push(finding);
    else this.omitted += 1;
  }

  /** An error about the log from `from` to `to`: what points there is one of its follow-ups. */
  addSpan(finding: StoreFinding, from: number, to: number): void {
    const isListed = this.list.length < this.findingsMax;
    const place = isListed ? this.list.length : -1;
    this.#spans.push({ from, to, place, followUps: [], followUpCount: 0 });
    this.add(finding);
  }

  /** Adds what something says of the record at `phyOffset`. */
  addAbout(phyOffset: number, finding: StoreFinding): void {
    const span = this.#spans.find((it) =>
      phyOffset >= it.from && phyOffset < it.to
    );
    if (span === undefined) return this.add(finding);
    span.followUpCount += 1;
    if (span.followUps.length < FOLLOW_UPS_MAX) span.followUps.push(finding);
  }

  /** The list, with follow-ups at what they follow from. */
  finish(): readonly StoreFinding[] {
    for (const { place, followUps, followUpCount } of this.#spans) {
      const finding = this.list[place];
      // An empty file is no fault by itself; what points into it says that it was filled.
      const isFault = followUps.some((it) => it.severity === "error");
      if (isFault && finding?.severity !== "error") this.errorCount += 1;
      if (finding === undefined || followUpCount === 0) continue;
      const message = `${finding.message}; ${followUpCount} ` +
        `${followUpCount === 1 ? "entry" : "entries"} of queues and index ` +
        `${followUpCount === 1 ? "points" : "point"} to it`;
      this.list[place] = {
        ...finding,
        severity: isFault ? "error" : finding.severity,
        message,
        followUps,
      };
    }
    return this.list;
  }

  error(
    kind: StoreFindingKind,
    path: string,
    offset: number | null,
    message: string,
  ): void {
    this.add({ severity: "error", kind, path, offset, message });
  }

  warning(
    kind: StoreFindingKind,
    path: string,
    offset: number | null,
    message: string,
  ): void {
    this.add({ severity: "warning", kind, path, offset, message });
  }
}
