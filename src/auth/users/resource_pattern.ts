/**
 * ResourcePattern: what a policy is about, in the text form of AclInfo.
 *
 * | text        | means                                  |
 * | ----------- | -------------------------------------- |
 * | `*`         | everything                             |
 * | `Topic:*`   | ANY: every topic                       |
 * | `Topic:a*`  | PREFIXED: every topic that starts so   |
 * | `Topic:a`   | LITERAL: this topic                    |
 *
 * The same with Group, Cluster and Namespace. What follows the first `*` is passed over where the
 * last character is one, as in Apache's Resource.of.
 */
import { wordOf } from "./user.ts";

/** What it is about; `Any` is about everything. */
export type ResourceType = "Any" | "Cluster" | "Namespace" | "Topic" | "Group";

const TYPES: readonly ResourceType[] = [
  "Any",
  "Cluster",
  "Namespace",
  "Topic",
  "Group",
];

/** One pattern. */
export interface ResourcePattern {
  readonly type: ResourceType;
  readonly kind: "ANY" | "PREFIXED" | "LITERAL";
  /** Empty for ANY. */
  readonly name: string;
}

const EVERYTHING: ResourcePattern = { type: "Any", kind: "ANY", name: "" };

/** Reads a text; undefined when it is none. */
export function parseResource(text: string): ResourcePattern | undefined {
  if (text === "*") return EVERYTHING;
  const colon = text.indexOf(":");
  if (colon < 0) return undefined;
  const type = wordOf(TYPES, text.slice(0, colon));
  if (type === undefined) return undefined;
  if (type === "Any") return EVERYTHING;
  const name = text.slice(colon + 1);
  if (!name.endsWith("*")) return { type, kind: "LITERAL", name };
  const prefix = name.slice(0, name.indexOf("*"));
  return prefix === ""
    ? { type, kind: "ANY", name: "" }
    : { type, kind: "PREFIXED", name: prefix };
}

/** The text; two patterns are equal when theirs are. */
export function resourceKey({ kind, name, type }: ResourcePattern): string {
  if (type === "Any") return "*";
  return `${type}:${name}${kind === "LITERAL" ? "" : "*"}`;
}
