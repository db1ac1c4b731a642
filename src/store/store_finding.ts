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
  | "checkpoint";

/** `warning`: normal in a store that is running or was not stopped cleanly. */
export interface StoreFinding {
  readonly severity: "error" | "warning";
  readonly kind: StoreFindingKind;
  /** The file, or the folder. */
  readonly path: string;
  /** In a log or a queue its own offset, else the byte in the file; null when it has none. */
  readonly offset: number | null;
  readonly message: string;
}

/** Collects findings up to a limit and counts the rest. */
export class StoreFindings {
  readonly list: StoreFinding[] = [];
  omitted = 0;
  errorCount = 0;

  constructor(private readonly findingsMax: number) {}

  add(finding: StoreFinding): void {
    if (finding.severity === "error") this.errorCount += 1;
    if (this.list.length < this.findingsMax) this.list.push(finding);
    else this.omitted += 1;
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
