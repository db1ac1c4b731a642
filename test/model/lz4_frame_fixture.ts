/** LZ4 frames out of sequences, and what they hold, by the format's own words. */

/** Literals, then a match, whose distance is brought into what there is already. */
export interface Sequence {
  readonly literals: Uint8Array;
  readonly distance: number;
  readonly length: number;
}

/** Which optional fields a frame has. */
export interface Lz4Flags {
  readonly hasContentSize: boolean;
  readonly hasBlockChecksums: boolean;
  readonly hasContentChecksum: boolean;
}

const MATCH_MIN = 4;
const NONE: Lz4Flags = {
  hasContentSize: false,
  hasBlockChecksums: false,
  hasContentChecksum: false,
};

/** A frame of one block for each row; a row's last sequence has literals only. */
export function lz4Frame(
  blocks: readonly (readonly Sequence[])[],
  flags: Lz4Flags = NONE,
): { bytes: Uint8Array; content: Uint8Array } {
  const content: number[] = [];
  const data = blocks.map((it) => blockOf(it, content));
  const descriptor = 0x40 | (flags.hasBlockChecksums ? 0x10 : 0) |
    (flags.hasContentSize ? 8 : 0) | (flags.hasContentChecksum ? 4 : 0);
  const bytes = [0x04, 0x22, 0x4d, 0x18, descriptor, 0x70];
  if (flags.hasContentSize) bytes.push(...uint32(content.length), 0, 0, 0, 0);
  bytes.push(0);
  for (const block of data) {
    bytes.push(...uint32(block.length), ...block);
    if (flags.hasBlockChecksums) bytes.push(...uint32(0));
  }
  bytes.push(...uint32(0));
  if (flags.hasContentChecksum) bytes.push(...uint32(0));
  return { bytes: new Uint8Array(bytes), content: new Uint8Array(content) };
}

function blockOf(sequences: readonly Sequence[], content: number[]): number[] {
  const block: number[] = [];
  for (const [index, { distance, length, literals }] of sequences.entries()) {
    content.push(...literals);
    const isLast = index === sequences.length - 1 || content.length === 0;
    const match = isLast ? 0 : length - MATCH_MIN;
    block.push(Math.min(15, literals.length) << 4 | Math.min(15, match));
    block.push(...rest(literals.length), ...literals);
    if (isLast) break;
    const from = content.length - 1 - (distance - 1) % content.length;
    const back = content.length - from;
    block.push(back & 255, back >> 8, ...rest(match));
    for (let at = from; at < from + length; at++) content.push(content[at]!);
  }
  return block;
}

/** The bytes behind a token for a length of 15 and more. */
function rest(length: number): number[] {
  if (length < 15) return [];
  const left = length - 15;
  return [...Array(Math.floor(left / 255)).fill(255), left % 255];
}

function uint32(value: number): number[] {
  return [value & 255, value >> 8 & 255, value >> 16 & 255, value >>> 24];
}
