/** Java properties: reading with line numbers, and changing a file without losing its comments. */
import { PropertiesEditor } from "properties-file/editor";
import { Properties, PropertiesNodeType } from "properties-file/parser";

/** One `key=value` and where it starts. */
export interface PropertyEntry {
  readonly key: string;
  readonly value: string;
  /** From 1. */
  readonly line: number;
}

/** Reads all entries in file order; a key that appears twice is there twice (the last one wins). */
export function parseProperties(text: string): PropertyEntry[] {
  const entries: PropertyEntry[] = [];
  for (const node of new Properties(text).nodes) {
    if (node.type !== PropertiesNodeType.PROPERTY || node.key === "") continue;
    entries.push({
      key: node.key,
      value: node.value,
      line: node.startingLineNumber,
    });
  }
  return entries;
}

/** The text of a file in which `changes` hold; comments, order and other keys stay. */
export function updateProperties(
  text: string,
  changes: ReadonlyMap<string, string>,
): string {
  const editor = new PropertiesEditor(text);
  for (const [key, value] of changes) editor.upsert(key, value);
  const updated = editor.format();
  return updated.endsWith("\n") ? updated : updated + "\n";
}
