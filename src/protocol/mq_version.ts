/** MQVersion: names of the version ordinals that commands and heartbeats carry (reference 1.5). */

/** Versions before 3.0.1, which follow no rule. */
const EARLY_NAMES = [
  "SNAPSHOT",
  "ALPHA1",
  "BETA1",
  "BETA2",
  "BETA3",
  "BETA4",
  "BETA5",
  "BETA6_SNAPSHOT",
  "BETA6",
  "BETA7_SNAPSHOT",
  "BETA7",
  "BETA8_SNAPSHOT",
  "BETA8",
  "BETA9_SNAPSHOT",
  "BETA9",
  "FINAL",
];
/** First ordinal of a minor version, the version, its first patch; snapshots precede releases. */
const RUNS: readonly (readonly [number, number, number])[] = [
  [194, 39, 1],
  [176, 38, 1],
  [158, 37, 1],
  [140, 36, 1],
  [122, 35, 1],
  [104, 34, 1],
  [86, 33, 1],
  [66, 32, 0],
  [46, 31, 0],
  [16, 30, 1],
];
/** 4.0.0-SNAPSHOT; from here on every minor version has ten patches. */
const REGULAR_FROM = 212;
const HIGHER_VERSION = 612;

/** `V5_5_0`, `V4_9_8_SNAPSHOT`; what is beyond the list is `HIGHER_VERSION`, as in Java. */
export function mqVersionDesc(ordinal: number): string {
  if (ordinal >= HIGHER_VERSION) return "HIGHER_VERSION";
  if (!(ordinal >= EARLY_NAMES.length)) {
    return `V3_0_0_${EARLY_NAMES[Math.max(0, Math.trunc(ordinal) || 0)]}`;
  }
  if (ordinal >= REGULAR_FROM) {
    const version = 400 + Math.floor((ordinal - REGULAR_FROM) / 2);
    return nameOf(
      Math.floor(version / 10),
      version % 10,
      (ordinal - REGULAR_FROM) % 2 === 0,
    );
  }
  const [start, minor, patch] = RUNS.find(([from]) => ordinal >= from)!;
  const at = ordinal - start;
  return nameOf(minor, patch + Math.floor(at / 2), at % 2 === 0);
}

function nameOf(minor: number, patch: number, isSnapshot: boolean): string {
  return `V${Math.floor(minor / 10)}_${minor % 10}_${patch}${
    isSnapshot ? "_SNAPSHOT" : ""
  }`;
}
