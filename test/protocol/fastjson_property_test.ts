/**
 * Properties of the fastjson dialect, with a seed of its own in every run; TEST_SEED=N repeats one.
 */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { describe, it } from "node:test";
import process from "node:process";
import { BodyError, decodeJson } from "../../src/protocol/body/json_fields.ts";
import {
  FASTJSON_DEPTH_MAX,
  FastjsonError,
  type FastjsonValue,
  parseFastjson,
  writeFastjson,
} from "../../src/protocol/fastjson.ts";
import { writePrettyFastjson } from "../../src/protocol/pretty_fastjson.ts";

const seed = Number(
  process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31),
);
console.log(`fastjson properties: TEST_SEED=${seed}`);

const RUNS = { seed, numRuns: 300 };
const LONG_MAX = 2n ** 63n - 1n;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Quotes, backslashes, controls, separators of lines, marks of direction, halves of pairs. */
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.string({
    unit: fc.constantFrom(
      ...`"'\\/{}[]:,$@%_-. \b\f\n\r\t\v\0\x1f\x7f`,
      "\u2028",
      "\u202e",
      "\ufeff",
      "é",
      "中",
      "😀",
      "\ud800",
      "\udc00",
    ),
    maxLength: 12,
  }),
  fc.constantFrom("__proto__", "constructor", "toString", "$ref", "@type", ""),
);

/** JSON cannot tell -0 from 0. */
const double = fc.double({ noNaN: true, noDefaultInfinity: true })
  .map((it) => it === 0 ? 0 : it);
const long = fc.bigInt({ min: -LONG_MAX - 1n, max: LONG_MAX });
const scalar = fc.oneof(
  text,
  double,
  fc.integer(),
  long,
  fc.boolean(),
  fc.constant(null),
);

const { value: anyValue } = fc.letrec<{ value: FastjsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalar,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.array(fc.tuple(text, tie("value")), { maxLength: 4 }).map(objectOf),
    fc.array(
      fc.tuple(
        fc.record({ brokerName: text, queueId: fc.nat(), topic: text }, {
          noNullPrototype: true,
        }),
        tie("value"),
      ),
      { minLength: 1, maxLength: 3 },
    ).map((it) => new Map<FastjsonValue, FastjsonValue>(it)),
  ),
}));

function objectOf(
  entries: readonly (readonly [string, FastjsonValue])[],
): { [name: string]: FastjsonValue } {
  return Object.fromEntries(entries);
}

/** As the parser gives it back: what fits is a number, the rest a bigint. */
function normal(value: unknown): unknown {
  if (typeof value === "bigint") {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value;
  }
  // Its shortest text, where that has neither fraction nor exponent, reads as an integer.
  if (typeof value === "number") {
    const text = String(value);
    return /^-?\d+$/.test(text) ? normal(BigInt(text)) : value;
  }
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(normal);
  if (value instanceof Map) {
    return [...value].map(([key, it]) => [normal(key), normal(it)]);
  }
  return Object.entries(value).map(([key, it]) => [key, normal(it)]);
}

/** The same value in another hand: as operators and old clients write it. */
class Handwriting {
  constructor(private readonly next: () => number) {}

  write(value: FastjsonValue): string {
    if (typeof value === "string") return this.#quoted(value);
    if (typeof value !== "object" || value === null) {
      return writeFastjson(value);
    }
    if (Array.isArray(value)) {
      return this.#list("[", value.map((it) => this.write(it)), "]");
    }
    const entries = value instanceof Map ? [...value] : Object.entries(value);
    const members = entries.map(([key, it]) =>
      `${this.#key(key as FastjsonValue)}${this.#space()}:${this.#space()}${
        this.write(it as FastjsonValue)
      }`
    );
    return this.#list("{", members, "}");
  }

  #key(key: FastjsonValue): string {
    if (typeof key !== "string") return this.write(key);
    const isBare = /^(?:-?(?:0|[1-9]\d{0,17})|[A-Za-z_$][\w$]*)$/.test(key);
    return isBare && this.next() % 3 > 0 ? key : this.#quoted(key);
  }

  #quoted(value: string): string {
    if (this.next() % 2 === 0) return JSON.stringify(value);
    return `'${
      value.replace(/['\\]/g, "\\$&").replace(
        /\p{Cc}/gu,
        (it) => `\\x${it.charCodeAt(0).toString(16).padStart(2, "0")}`,
      )
    }'`;
  }

  #list(open: string, items: readonly string[], close: string): string {
    let written = open;
    items.forEach((item, index) => {
      const isLast = index === items.length - 1 && this.next() % 2 === 0;
      const comma = isLast ? "" : `,${this.#commas()}`;
      written += `${this.#space()}${item}${this.#space()}${comma}`;
    });
    return `${written}${this.#space()}${close}`;
  }

  #commas(): string {
    return ["", "", "", ","][this.next() % 4]!;
  }

  #space(): string {
    return ["", "", " ", "\t\r\n", "/* ,'\" */", "// }\n"][this.next() % 6]!;
  }
}

function handwriting(numbers: readonly number[]): Handwriting {
  let at = 0;
  return new Handwriting(() => numbers[at++ % numbers.length]!);
}

/** Nothing but `FastjsonError` may come out of a text, and it is one short line. */
function checkJunk(junk: string): void {
  try {
    parseFastjson(junk);
  } catch (error) {
    assert(error instanceof FastjsonError, String(error));
    assert(
      /^Cannot parse JSON: [^\n]{1,40} at position \d+$/.test(error.message),
      error.message,
    );
  }
}

/**
 * A second and a half of this process's CPU, which a busy machine does not stretch as it does time:
 * what looks at all again for each of a quarter of a million characters takes far more.
 */
function within(text: string, parse: () => void): void {
  const before = process.cpuUsage();
  parse();
  const { system, user } = process.cpuUsage(before);
  const usedMs = (system + user) / 1_000;
  assert(usedMs < 1_500, `${usedMs} ms for ${text.slice(0, 40)}`);
}

describe("fastjson", () => {
  it("reads back what it wrote, exactly", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        assertEquals(
          normal(parseFastjson(writeFastjson(value))),
          normal(value),
        );
      }),
      RUNS,
    );
  });

  it("reads back what it wrote in the layout of config files", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        assertEquals(
          normal(parseFastjson(writePrettyFastjson(value))),
          normal(value),
        );
      }),
      RUNS,
    );
  });

  it("reads any handwriting of the dialect as the value that it means", () => {
    const numbers = fc.array(fc.nat(), { minLength: 1, maxLength: 64 });
    fc.assert(
      fc.property(anyValue, numbers, (value, hand) => {
        const written = handwriting(hand).write(value);
        assertEquals(normal(parseFastjson(written)), normal(value), written);
      }),
      RUNS,
    );
  });

  it("never rounds a long", () => {
    fc.assert(
      fc.property(long, fc.boolean(), (value, isKey) => {
        const parsed = parseFastjson(isKey ? `{${value}:1}` : `[${value}]`);
        const found = isKey
          ? Object.keys(parsed as object)[0]
          : (parsed as unknown[])[0];
        assertEquals(BigInt(found as string), value);
      }),
      RUNS,
    );
  });

  it("gives one clear error for junk", () => {
    const unit = fc.constantFrom(..."{}[]:,'\"\\/*ax01-.eE tun\n\u2028");
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit, maxLength: 60 }), text),
        checkJunk,
      ),
      { seed, numRuns: 2_000 },
    );
  });

  it("gives one clear error for the start of a text, and for one with a byte changed", () => {
    const place = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
    fc.assert(
      fc.property(anyValue, place, fc.nat(255), (value, share, byte) => {
        const bytes = encoder.encode(`[${writeFastjson(value)}]`);
        const at = Math.floor(share * bytes.length);
        checkJunk(decoder.decode(bytes.subarray(0, at)));
        bytes[at] = byte;
        checkJunk(decoder.decode(bytes));
      }),
      RUNS,
    );
  });

  it("gives a body's error the body's name, whatever the bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        try {
          decodeJson(bytes, "TopicList");
        } catch (error) {
          assert(error instanceof BodyError, String(error));
          assert(
            error.message.startsWith("Cannot read TopicList: it is no JSON: "),
          );
        }
      }),
      RUNS,
    );
  });

  it("takes the last of two equal names, whatever they are", () => {
    fc.assert(
      fc.property(text, fc.boolean(), (name, isStandard) => {
        const key = JSON.stringify(name);
        const first = isStandard ? '{"a":1}' : "{a:1}";
        const parsed = parseFastjson(`{${key}:${first},${key}:[2]}`) as object;
        assertEquals(Object.entries(parsed), [[name, [2]]]);
        assertEquals(Object.getPrototypeOf(parsed), Object.prototype);
      }),
      RUNS,
    );
  });

  it("is done at once with a quarter of a megabyte of anything", {
    timeout: 300_000,
  }, () => {
    const size = 262_144;
    const fill = (part: string) => part.repeat(Math.ceil(size / part.length));
    const hostile = [
      ...[
        "{",
        "[",
        "{{",
        "[[{",
        "'",
        '"',
        "\\",
        "/*",
        "//",
        "/",
        ",",
        "-",
        "9",
      ],
      ...[
        "0.",
        "1e9",
        '\\"',
        "'\\",
        '"\\\\',
        "{a:",
        "{1:",
        "{{}:",
        "[{},",
        "/**/",
      ],
      ...[
        "a",
        "\ud800",
        "\\ud800",
        "null",
        "{},",
        '"":',
        "[1,2],",
        "// \n",
        "__proto__:",
      ],
    ].flatMap((it) =>
      ["", "[", "{", '"', "'", "{a:", "{{a:1}:1,", "[1234567890123456,"]
        .map((before) => before + fill(it))
    );
    for (const it of hostile) within(it, () => checkJunk(it));
    const empty = `[${fill("/* */,")}]`;
    within(empty, () => {
      assertEquals((parseFastjson(empty) as unknown[]).length, 0);
    });
    const names = Array.from({ length: 50_000 }, (_, it) => `${it}:${it}`);
    const object = `{${names.join(",")}}`;
    within(object, () => {
      const parsed = parseFastjson(object) as object;
      assertEquals(Object.keys(parsed).length, 50_000);
    });
    const queues = names.map((_, it) => `{queueId:${it}}:${it}`).join(",");
    within(queues, () => {
      const parsed = parseFastjson(`{${queues}}`) as Map<unknown, unknown>;
      assertEquals(parsed.size, 50_000);
    });
  });

  it("ends at the same depth in every kind of nesting", () => {
    const kinds = [["[", "]"], ["{a:", "}"], ['{"a":', "}"], ["{{}:", "}"]];
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...kinds), {
          minLength: FASTJSON_DEPTH_MAX - 2,
          maxLength: FASTJSON_DEPTH_MAX + 2,
        }),
        (levels) => {
          const open = levels.map((it) => it[0]).join("");
          const close = levels.map((it) => it[1]).reverse().join("");
          // A key `{}` is one level below its object.
          const depth = levels.at(-1)![0] === "{{}:"
            ? levels.length + 1
            : levels.length;
          let isRead = true;
          try {
            parseFastjson(`${open}1${close}`);
          } catch (error) {
            assert(error instanceof FastjsonError);
            isRead = false;
          }
          assertEquals(isRead, depth <= FASTJSON_DEPTH_MAX);
        },
      ),
      RUNS,
    );
  });
});
