/** DataVersion: which change of a metadata table this is (reference 1.8). */
export interface DataVersion {
  readonly stateVersion: number;
  readonly timestamp: number;
  readonly counter: number;
}

/** The version after one more change. */
export function nextVersion(
  version: DataVersion,
  nowMs: number,
  stateVersion = version.stateVersion,
): DataVersion {
  return { stateVersion, timestamp: nowMs, counter: version.counter + 1 };
}

/** True when all fields are equal. */
export function isSameVersion(a: DataVersion, b: DataVersion): boolean {
  return a.stateVersion === b.stateVersion && a.timestamp === b.timestamp &&
    a.counter === b.counter;
}
