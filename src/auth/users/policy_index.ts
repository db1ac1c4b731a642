/**
 * PolicyIndex: finds the entry that decides, without going through all of them.
 *
 * As Apache's AclAuthorizationHandler: of the entries that match resource, action and address, the
 * one with the narrowest pattern decides: LITERAL, the longest PREFIXED, ANY of the type, `*`.
 * Custom policies come first; default ones count where no custom entry matches at all.
 */
import type { AccessResource, Action } from "../access_rule.ts";
import {
  type Acl,
  type Decision,
  hasAction,
  type Policy,
  type PolicyEntry,
} from "./policy.ts";
import { isFrom, parseSourceIp, type SourceIp } from "./source_ip.ts";

/** A request as a policy sees it. */
export interface PolicyQuestion {
  readonly kind: AccessResource["kind"];
  readonly name: string;
  /** Any one of them is enough. */
  readonly actions: readonly Action[];
  readonly remoteAddress: Uint8Array;
}

interface IndexedEntry extends PolicyEntry {
  readonly sources: readonly SourceIp[];
}

/** Policies of one user, ready to be asked. */
export class PolicyIndex {
  readonly #policies: readonly OnePolicy[];

  constructor(acl: Acl) {
    const custom = acl.get("Custom");
    const fallback = acl.get("Default");
    this.#policies = [custom, fallback].filter((it) => it !== undefined)
      .map((it) => new OnePolicy(it));
  }

  /** What the deciding entry says; undefined: none matches. */
  decide(question: PolicyQuestion): Decision | undefined {
    for (const policy of this.#policies) {
      const decision = policy.decide(question);
      if (decision !== undefined) return decision;
    }
    return undefined;
  }
}

class OnePolicy {
  readonly #entries = new Map<string, IndexedEntry>();
  /** Lengths of the prefixes, longest first: as many look-ups, however many entries there are. */
  readonly #prefixLengths: readonly number[];

  constructor(policy: Policy) {
    const lengths = new Set<number>();
    for (const [key, entry] of policy) {
      this.#entries.set(key, {
        ...entry,
        sources: entry.sourceIps.flatMap((it) => parseSourceIp(it) ?? []),
      });
      const { kind, name } = entry.resource;
      if (kind === "PREFIXED") lengths.add(name.length);
    }
    this.#prefixLengths = [...lengths].sort((a, b) => b - a);
  }

  decide(question: PolicyQuestion): Decision | undefined {
    for (const key of this.#keysOf(question)) {
      const entry = this.#entries.get(key);
      if (entry === undefined || !matches(entry, question)) continue;
      return entry.decision;
    }
    return undefined;
  }

  /** Texts of the patterns that the resource may match, narrowest first. */
  *#keysOf({ kind, name }: PolicyQuestion): Iterable<string> {
    yield `${kind}:${name}`;
    for (const length of this.#prefixLengths) {
      if (length <= name.length) yield `${kind}:${name.slice(0, length)}*`;
    }
    yield `${kind}:*`;
    yield "*";
  }
}

function matches(
  { actions, sourceIps, sources }: IndexedEntry,
  question: PolicyQuestion,
): boolean {
  if (!hasAction(actions, question.actions)) return false;
  return sourceIps.length === 0 ||
    sources.some((it) => isFrom(it, question.remoteAddress));
}
