/** LanguageCode: the sender's language, a name in JSON and a byte in binary headers. */

/** Names by byte (reference 1.3); RUST and NODE_JS do not exist in 4.9 peers. */
const LANGUAGE_NAMES = [
  "JAVA",
  "CPP",
  "DOTNET",
  "PYTHON",
  "DELPHI",
  "ERLANG",
  "RUBY",
  "OTHER",
  "HTTP",
  "GO",
  "PHP",
  "OMS",
  "RUST",
  "NODE_JS",
] as const;

const OTHER = 7;

const BYTES: ReadonlyMap<string, number> = new Map(
  LANGUAGE_NAMES.map((name, byte) => [name, byte]),
);

/** The name of a language byte; an unknown one is OTHER. */
export function languageName(byte: number): string {
  return LANGUAGE_NAMES[byte] ?? "OTHER";
}

/** The byte of a language name; an unknown one is OTHER. */
export function languageByte(name: string): number {
  return BYTES.get(name) ?? OTHER;
}
