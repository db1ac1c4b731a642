/** Foreign files in the folders of a store: left alone, named once. */
import type { Logger } from "../io/logger.ts";

const NAMES_SHOWN_MAX = 10;

/** One line for all of them; none when there are none. */
export function warnOfForeignFiles(
  logger: Logger,
  directory: string,
  names: readonly string[],
): void {
  if (names.length === 0) return;
  logger.warn("Foreign files in a store folder are ignored", {
    directory,
    files: names.slice(0, NAMES_SHOWN_MAX),
    count: names.length,
  });
}
