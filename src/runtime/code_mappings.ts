/** cleanCodeMappings: where the code of a running executable lies in memory (Linux). */

/** Smaller mappings are not worth a call. */
const MAPPING_SIZE_MIN = 1024 * 1024;

/** Part of the address space. */
export interface CodeMapping {
  readonly start: bigint;
  readonly size: bigint;
}

/**
 * Code and constants of `executable` without a page of the process's own, from the text of
 * /proc/self/smaps. Dirty pages do not count: of a file just copied they are all dirty until the
 * system has written them back, and belong to its cache.
 */
export function cleanCodeMappings(
  smaps: string,
  executable: string,
): CodeMapping[] {
  const mappings: CodeMapping[] = [];
  const header = /^([0-9a-f]+)-([0-9a-f]+) (\S{4}) \S+ \S+ \d+ *(.*)$/gm;
  for (const match of smaps.matchAll(header)) {
    const [line, from, to, permissions, path] = match;
    if (permissions?.[1] !== "-" || path !== executable) continue;
    const facts = smaps.slice(match.index + line.length)
      .split(/^[0-9a-f]+-[0-9a-f]+ /m, 1)[0]!;
    const isClean = /^Anonymous: +0 kB$/m.test(facts);
    const start = BigInt(`0x${from}`);
    const size = BigInt(`0x${to}`) - start;
    if (isClean && size >= MAPPING_SIZE_MIN) mappings.push({ start, size });
  }
  return mappings;
}
