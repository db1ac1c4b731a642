/** Numbers as Java reads and orders them: Integer.valueOf, Long.valueOf, Double.valueOf, Double.compare. */

const INTEGER = /^([+-]?)(\p{Nd}+)$/u;
/** Digits of the largest Long. */
const LONG_DIGITS_MAX = 19;
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?$/;
const HEX =
  /^([+-]?)0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?\d+)[fFdD]?$/;
/** Exponents beyond it are zero or infinite, whatever a message can hold of digits. */
const HEX_EXPONENT_MAX = 1_000_000;
/** Bits of a Double's significand, and the exponent of the smallest value. */
const DOUBLE_BITS = 53;
const DOUBLE_EXPONENT_MIN = -1_074;
/** Of a significand of 53 bits that is finite. */
const DOUBLE_EXPONENT_MAX = 971;

/** Undefined where Integer.valueOf or Long.valueOf throws: no integer, or outside `min` to `max`. */
export function javaParseInteger(
  text: string,
  min: bigint,
  max: bigint,
): bigint | undefined {
  const found = INTEGER.exec(text);
  if (found === null) return undefined;
  const digits = asciiDigits(found[2]!);
  if (digits === undefined) return undefined;
  const significant = digits.replace(/^0+/, "");
  if (significant.length > LONG_DIGITS_MAX) return undefined;
  const magnitude = BigInt(significant);
  const value = found[1] === "-" ? -magnitude : magnitude;
  return value >= min && value <= max ? value : undefined;
}

/** Java takes the decimal digits of all scripts, as long as each is one UTF-16 unit. */
function asciiDigits(digits: string): string | undefined {
  if (/^\d+$/.test(digits)) return digits;
  if (/[\ud800-\udfff]/.test(digits)) return undefined;
  return digits.replace(/\D/g, (digit) => String(digitValue(digit)));
}

/** Each script has its ten digits in one run that begins with zero. */
function digitValue(digit: string): number {
  let value = 0;
  const code = digit.charCodeAt(0);
  while (value < 9 && /\p{Nd}/u.test(String.fromCharCode(code - value - 1))) {
    value++;
  }
  return value;
}

/** Undefined where Double.valueOf throws. */
export function javaParseDouble(text: string): number | undefined {
  const trimmed = javaTrim(text);
  if (DECIMAL.test(trimmed)) return Number(trimmed.replace(/[fFdD]$/, ""));
  switch (trimmed.replace(/^[+-]/, "")) {
    case "NaN":
      return NaN;
    case "Infinity":
      return trimmed.startsWith("-") ? -Infinity : Infinity;
    default:
      return hexDouble(trimmed);
  }
}

/** String.trim(): control characters and the space. */
function javaTrim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && text.charCodeAt(start) <= 0x20) start++;
  while (start < end && text.charCodeAt(end - 1) <= 0x20) end--;
  return text.slice(start, end);
}

/** `0x1.8p3` is 12. */
function hexDouble(text: string): number | undefined {
  const found = HEX.exec(text);
  if (found === null) return undefined;
  const [, sign, whole, fraction, exponentText] = found;
  const digits = whole! + fraction!;
  if (digits === "") return undefined;
  const wanted = Number(exponentText);
  const exponent = Math.max(
    -HEX_EXPONENT_MAX,
    Math.min(HEX_EXPONENT_MAX, wanted),
  ) - 4 * fraction!.length;
  const value = roundedDouble(BigInt(`0x${digits}`), exponent);
  return sign === "-" ? -value : value;
}

/** `significand` × 2^`exponent`, rounded once, half to even. */
function roundedDouble(significand: bigint, exponent: number): number {
  if (significand === 0n) return 0;
  const bits = significand.toString(16).length * 4 -
    Math.clz32(Number.parseInt(significand.toString(16)[0]!, 16)) + 28;
  const unit = Math.max(exponent + bits - DOUBLE_BITS, DOUBLE_EXPONENT_MIN);
  const shift = unit - exponent;
  if (shift > bits + 1) return 0;
  const scale = (value: number) =>
    unit > DOUBLE_EXPONENT_MAX ? Infinity : value * 2 ** unit;
  if (shift <= 0) return scale(Number(significand << BigInt(-shift)));
  const low = BigInt(shift);
  const kept = significand >> low;
  const rest = significand - (kept << low);
  const half = 1n << (low - 1n);
  const isUp = rest > half || (rest === half && (kept & 1n) === 1n);
  return scale(Number(isUp ? kept + 1n : kept));
}

/** Below 0, 0, above 0: NaN is the largest, and -0 comes before 0. */
export function javaCompareDouble(left: number, right: number): number {
  if (left < right) return -1;
  if (left > right) return 1;
  if (Object.is(left, right)) return 0;
  if (Number.isNaN(left)) return 1;
  if (Number.isNaN(right)) return -1;
  return Object.is(left, -0) ? -1 : 1;
}
