/** The tree as the tidy rules see it. */
import { readdirSync, readFileSync, statSync } from "node:fs";

/** One file: path from the repository's root and its text. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

/** A rule looks at all sources and says what is wrong, one sentence each. */
export type TidyRule = (sources: readonly Source[]) => string[];

/** All TypeScript files below a folder. */
export function readSources(folder: string): Source[] {
  return readdirSync(folder).sort().flatMap((name) => {
    const path = `${folder}/${name}`;
    if (statSync(path).isDirectory()) return readSources(path);
    return name.endsWith(".ts")
      ? [{ path, text: readFileSync(path, "utf8") }]
      : [];
  });
}

/** The room of a file below src; files directly in src have the room of their name. */
export function roomOf(path: string): string {
  const parts = path.split("/");
  return parts.length > 2 ? parts[1]! : parts[1]!.replace(/\.ts$/, "");
}

/** One import, resolved to a path for relative ones. */
export interface Import {
  readonly specifier: string;
  /** Path from the root, or null for packages and runtimes. */
  readonly target: string | null;
  readonly isTypeOnly: boolean;
}

const IMPORT =
  /(?:^|\n)\s*(import|export)\s+(type\s)?(?:[^"';]*?\sfrom\s*)?["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']\s*\)/g;

/** The imports and re-exports of a file, dynamic ones too. */
export function importsOf(source: Source): Import[] {
  return [...source.text.matchAll(IMPORT)].map((match) => {
    const specifier = (match[3] ?? match[4])!;
    return {
      specifier,
      target: specifier.startsWith(".")
        ? resolve(source.path, specifier)
        : null,
      isTypeOnly: match[2] !== undefined,
    };
  });
}

function resolve(from: string, specifier: string): string {
  const parts = from.split("/").slice(0, -1);
  for (const part of specifier.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== ".") parts.push(part);
  }
  return parts.join("/");
}

/** The text with comments, strings and template text blanked; lines and columns stay. */
export function codeOf(text: string): string {
  const pattern =
    /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|\$\{[^}]*\}|[^`\\])*`/g;
  return text.replace(pattern, (found) => found.replace(/[^\n]/g, " "));
}
