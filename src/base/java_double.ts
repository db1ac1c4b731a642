/** A number as Java writes a double: whole ones with ".0", never an exponent in this range. */
export function javaDouble(value: number): string {
  return Number.isInteger(value) ? `${value}.0` : String(value);
}
