/**
 * Which CommitLog files go, and why (reference 4.11): pure, over facts.
 *
 * - By age, when the local hour is one of `deleteWhen`, when the disk is fuller than
 *   `diskMaxUsedSpaceRatio`, or by hand. Spares what a connected slave still needs.
 *   At most `deleteFileBatchMax` a run, and none while the wall clock cannot be trusted.
 * - Regardless of age, above `diskSpaceCleanForciblyRatio` or `maxStoreBytes`, as many as it
 *   takes. Spares nothing, and says so.
 * - Never the last file.
 */
import type { MessageStoreOptions } from "./store_options.ts";

const HOUR_MS = 3_600_000;

/** Why files go. */
export type CleanReason =
  | "deleteWhen"
  | "diskMaxUsedSpaceRatio"
  | "manual"
  | "diskSpaceCleanForciblyRatio"
  | "maxStoreBytes";

/** The keys that decide. */
export type CleanOptions = Pick<
  MessageStoreOptions,
  | "fileReservedTime"
  | "deleteWhen"
  | "diskMaxUsedSpaceRatio"
  | "diskSpaceCleanForciblyRatio"
  | "cleanFileForciblyEnable"
  | "deleteFileBatchMax"
  | "maxStoreBytes"
>;

/** What is known before any file is looked at. */
export interface CleanSituation {
  readonly nowMs: number;
  /** Hour of the day, local time. */
  readonly localHour: number;
  /** False after a jump: nothing goes for its age. */
  readonly isClockTrusted: boolean;
  /** Null when the disk cannot be asked. */
  readonly diskUsedPercent: number | null;
  /** Size of the disk; 0 when it cannot be asked. */
  readonly diskTotalBytes: number;
  /** Somebody asked for it by hand. */
  readonly isManual: boolean;
  /** From the first to the last byte of the log. */
  readonly storedBytes: number;
}

/** One file of the log. */
export interface CleanFile {
  readonly fileFromOffset: number;
  readonly endOffset: number;
  /** When its newest record was stored. */
  readonly newestMs: number;
}

/** What to delete. */
export interface CleanPlan {
  /** Files from the first one on. */
  readonly count: number;
  readonly reason: CleanReason | null;
  /** Old enough, but a connected slave still needs them. */
  readonly sparedCount: number;
  /** A connected slave still needs one of those that go. */
  readonly isAgainstSlave: boolean;
}

const NOTHING: CleanPlan = {
  count: 0,
  reason: null,
  sparedCount: 0,
  isAgainstSlave: false,
};

/** Why files regardless of their age have to go now. */
export function forcedReason(
  situation: CleanSituation,
  options: CleanOptions,
): CleanReason | undefined {
  const { maxStoreBytes } = options;
  if (maxStoreBytes > 0 && situation.storedBytes > maxStoreBytes) {
    return "maxStoreBytes";
  }
  const used = situation.diskUsedPercent ?? 0;
  return options.cleanFileForciblyEnable &&
      used > options.diskSpaceCleanForciblyRatio
    ? "diskSpaceCleanForciblyRatio"
    : undefined;
}

/** Why files beyond `fileReservedTime` may go now, by a clock that can be trusted. */
export function agedReason(
  situation: CleanSituation,
  options: CleanOptions,
): CleanReason | undefined {
  if (situation.isManual) return "manual";
  if (deleteHours(options.deleteWhen).includes(situation.localHour)) {
    return "deleteWhen";
  }
  const used = situation.diskUsedPercent ?? 0;
  return used > options.diskMaxUsedSpaceRatio
    ? "diskMaxUsedSpaceRatio"
    : undefined;
}

/** `04;16` → [4, 16]; what is no hour is left out. */
export function deleteHours(deleteWhen: string): number[] {
  return deleteWhen.split(";").map((it) => it.trim())
    .filter((it) => /^\d{1,2}$/.test(it)).map(Number)
    .filter((it) => it < 24);
}

/** `neededFrom`: first offset that a connected slave still needs; undefined without one. */
export function planCleanCommitLog(
  situation: CleanSituation,
  files: readonly CleanFile[],
  options: CleanOptions,
  neededFrom: number | undefined,
): CleanPlan {
  if (files.length < 2) return NOTHING;
  const needed = neededFrom ?? Number.MAX_SAFE_INTEGER;
  const forced = forcedReason(situation, options);
  if (forced !== undefined) {
    const wanted = forced === "maxStoreBytes"
      ? filesAbove(situation.storedBytes - options.maxStoreBytes, files)
      : filesAboveRatio(situation, files, options);
    const count = Math.min(files.length - 1, wanted);
    return {
      count,
      reason: forced,
      sparedCount: 0,
      isAgainstSlave: files[count - 1]!.endOffset > needed,
    };
  }
  const reason = agedReason(situation, options);
  if (reason === undefined || !situation.isClockTrusted) return NOTHING;
  const may = Math.min(files.length - 1, options.deleteFileBatchMax);
  const before = situation.nowMs - options.fileReservedTime * HOUR_MS;
  const old = leading(files, may, (it) => it.newestMs < before);
  const count = leading(files, old, (it) => it.endOffset <= needed);
  return {
    count,
    reason: count > 0 ? reason : null,
    sparedCount: old - count,
    isAgainstSlave: false,
  };
}

/** How many of the first `max` files in a row satisfy `test`. */
function leading(
  files: readonly CleanFile[],
  max: number,
  test: (file: CleanFile) => boolean,
): number {
  let count = 0;
  while (count < max && test(files[count]!)) count += 1;
  return count;
}

/** How many first files hold `bytes`. */
function filesAbove(bytes: number, files: readonly CleanFile[]): number {
  let left = bytes;
  let count = 0;
  while (left > 0 && count < files.length) {
    const file = files[count]!;
    left -= file.endOffset - file.fileFromOffset;
    count += 1;
  }
  return count;
}

/**
 * How many first files bring the disk below its ratio. Space may become free only some time
 * after a file is gone: what the sizes say bounds one run, so that a slow answer does not
 * cost the whole log.
 */
function filesAboveRatio(
  situation: CleanSituation,
  files: readonly CleanFile[],
  options: CleanOptions,
): number {
  const { diskUsedPercent, diskTotalBytes } = situation;
  const percent = (diskUsedPercent ?? 0) - options.diskSpaceCleanForciblyRatio;
  return Math.max(
    filesAbove(percent * diskTotalBytes / 100, files),
    options.deleteFileBatchMax,
  );
}
