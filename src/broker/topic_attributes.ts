/** Attributes of a topic and how requests change them (reference 4.8.1). */
import { shown } from "../base/shown.ts";

/** A change was refused; the sentence says why. */
export class AttributeError extends Error {
  override readonly name = "AttributeError";
}

interface AttributeRule {
  readonly isChangeable: boolean;
  readonly values: ReadonlySet<string>;
  /** Values of RocketMQ's that no topic is made with here, and why. */
  readonly unsupported?: { readonly value: string; readonly reason: string };
}

const RULES: ReadonlyMap<string, AttributeRule> = new Map([
  ["queue.type", {
    isChangeable: false,
    values: new Set(["BatchCQ", "SimpleCQ"]),
    unsupported: {
      value: "BatchCQ",
      reason: "this broker has no BatchConsumeQueues, use SimpleCQ",
    },
  }],
  ["cleanup.policy", {
    isChangeable: false,
    values: new Set(["DELETE", "COMPACTION"]),
    unsupported: {
      value: "COMPACTION",
      reason: "this broker compacts no topics, use DELETE",
    },
  }],
  ["message.type", {
    isChangeable: true,
    values: new Set([
      "UNSPECIFIED",
      "NORMAL",
      "FIFO",
      "DELAY",
      "TRANSACTION",
      "MIXED",
    ]),
  }],
]);

/** Reads `+key=value,-key` into a modification. Throws `AttributeError`. */
export function parseAttributes(
  text: string | undefined,
): Map<string, string> {
  const modification = new Map<string, string>();
  for (const part of (text ?? "").split(",").filter((it) => it !== "")) {
    const equals = part.indexOf("=");
    const key = equals < 0 ? part : part.slice(0, equals);
    if (!key.startsWith(equals < 0 ? "-" : "+")) {
      throw new AttributeError(
        `The attribute ${
          shown(part)
        } has a wrong format: use +key=value or -key.`,
      );
    }
    if (modification.has(key)) {
      throw new AttributeError(
        `The attribute key ${shown(key)} appears twice.`,
      );
    }
    modification.set(key, equals < 0 ? "" : part.slice(equals + 1));
  }
  return modification;
}

/**
 * The attributes after a modification whose keys start with `+` or `-`;
 * `current` is undefined when the topic is created. Throws `AttributeError`.
 */
export function alterAttributes(
  current: Readonly<Record<string, string>> | undefined,
  modification: ReadonlyMap<string, string>,
): Record<string, string> {
  const attributes = new Map(Object.entries(current ?? {}));
  const seen = new Set<string>();
  for (const [signed, value] of modification) {
    const sign = signed[0];
    const key = signed.slice(1);
    if (seen.has(key)) {
      throw new AttributeError(`The attribute ${shown(key)} is altered twice.`);
    }
    seen.add(key);
    const rule = ruleOf(key);
    if (sign === "+") {
      checkValue(rule, key, value, current !== undefined);
      attributes.set(key, value);
    } else if (sign !== "-" || current === undefined) {
      throw new AttributeError(
        `The attribute ${shown(key)} can only be added with +${
          shown(key)
        }=value.`,
      );
    } else {
      if (!rule.isChangeable) throw unchangeable(key);
      if (!attributes.delete(key)) {
        throw new AttributeError(`The attribute ${shown(key)} does not exist.`);
      }
    }
  }
  return Object.fromEntries(attributes);
}

function ruleOf(key: string): AttributeRule {
  const rule = RULES.get(key);
  if (rule === undefined) {
    throw new AttributeError(`The attribute ${shown(key)} is unsupported.`);
  }
  return rule;
}

function checkValue(
  rule: AttributeRule,
  key: string,
  value: string,
  isChange: boolean,
): void {
  if (isChange && !rule.isChangeable) throw unchangeable(key);
  if (!rule.values.has(value)) {
    throw new AttributeError(
      `The attribute ${shown(key)} is "${shown(value)}", ` +
        `allowed are ${[...rule.values].join(", ")}.`,
    );
  }
  if (rule.unsupported?.value === value) {
    throw new AttributeError(
      `The attribute ${key} is not supported as ${value}: ${rule.unsupported.reason}.`,
    );
  }
}

function unchangeable(key: string): AttributeError {
  return new AttributeError(`The attribute ${shown(key)} is unchangeable.`);
}
