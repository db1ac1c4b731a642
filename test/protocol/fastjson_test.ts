import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { describe, it } from "node:test";
import {
  FastjsonError,
  type FastjsonValue,
  parseFastjson,
  writeFastjson,
} from "../../src/protocol/fastjson.ts";

/** Integers beyond 2^53 as JSON.parse reads them. */
function withoutBigint(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutBigint);
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([k, v]) => [k, withoutBigint(v)]));
}

describe("parseFastjson", () => {
  it("reads bare integer keys", () => {
    assertEquals(
      parseFastjson('{"brokerAddrs":{0:"10.0.0.1:10911",-1:"x"}}'),
      { brokerAddrs: { "0": "10.0.0.1:10911", "-1": "x" } },
    );
  });

  it("reads objects as keys into a Map", () => {
    const parsed = parseFastjson(
      '{"offsetTable":{{"brokerName":"b","queueId":0,"topic":"t"}:{"minOffset":0},{"brokerName":"b","queueId":1,"topic":"t"}:{"minOffset":5}}}',
    ) as { offsetTable: Map<unknown, unknown> };
    assertEquals([...parsed.offsetTable], [
      [{ brokerName: "b", queueId: 0, topic: "t" }, { minOffset: 0 }],
      [{ brokerName: "b", queueId: 1, topic: "t" }, { minOffset: 5 }],
    ]);
  });

  it("reads single quotes, unquoted names and any white space", () => {
    assertEquals(
      parseFastjson(" {a_1 : 'it\\'s', $b:\t[ 1 , 2.5e1 ,-3],'c':true}\r\n "),
      { a_1: "it's", $b: [1, 25, -3], c: true },
    );
  });

  it("reads every escape of fastjson", () => {
    assertEquals(
      parseFastjson("'\\b\\f\\n\\r\\t\\v\\0\\7\\\"\\'\\\\\\/\\u00e9\\x41'"),
      "\b\f\n\r\t\v\0\x07\"'\\/éA",
    );
  });

  it("passes over comments and commas too many, as fastjson does", () => {
    assertEquals(
      parseFastjson(
        "/* of an operator */ {,a:[1,,2,],// the rest\n b:{c:'/*,*/',},,}//",
      ),
      { a: [1, 2], b: { c: "/*,*/" } },
    );
  });

  it("keeps integers beyond 2^53 exact", () => {
    assertEquals(
      parseFastjson(
        '{"offset":9223372036854775807,"low":-9223372036854775808,"safe":9007199254740991}',
      ),
      {
        offset: 9223372036854775807n,
        low: -9223372036854775808n,
        safe: 9007199254740991,
      },
    );
  });

  it("keeps __proto__ an own property", () => {
    for (const text of ['{"__proto__":{"x":1}}', "{__proto__:{x:1}}"]) {
      const parsed = parseFastjson(text) as object;
      assertEquals(Object.keys(parsed), ["__proto__"]);
      assertEquals(Object.getPrototypeOf(parsed), Object.prototype);
      assertEquals(({} as Record<string, unknown>)["x"], undefined);
    }
  });

  it("refuses what is JSON in neither dialect", () => {
    const broken = [
      "",
      "{",
      "[",
      "[1",
      "{1}",
      '{"a":}',
      '{"a" 1}',
      "'a",
      "[1 2]",
      "[1,",
      "{a:1,",
      "{a:1 b:2}",
      "1 2",
      "1,",
      "/* 1",
      "[1/]",
      "// [1]",
      "nul",
      "undefined",
      "\\u0041",
      "'\\q'",
      "'\\u00g0'",
      "'\\u00",
      "9".repeat(100),
      "{{}}",
      "-",
      "//",
    ];
    for (const text of broken) {
      assertThrows(() => parseFastjson(text), FastjsonError);
    }
  });

  it("bounds the depth, whatever the strings around hold", () => {
    const nested = (levels: number, open: string, close: string) =>
      open.repeat(levels) + "1" + close.repeat(levels);
    parseFastjson(nested(64, "[", "]"));
    parseFastjson(nested(64, "{a:", "}"));
    parseFastjson(JSON.stringify("[".repeat(1000)));
    for (
      const text of [
        nested(65, "[", "]"),
        nested(65, '{"a":', "}"),
        nested(65, '["}]\\"",', "]"),
        nested(65, "{a:", "}"),
        "{".repeat(100_000),
        "[".repeat(1_000_000),
      ]
    ) assertThrows(() => parseFastjson(text), FastjsonError);
  });

  it("agrees with JSON.parse on standard JSON", () => {
    fc.assert(fc.property(fc.json({ maxDepth: 8 }), (text) => {
      assertEquals(withoutBigint(parseFastjson(text)), JSON.parse(text));
    }));
  });

  it("agrees with JSON.parse when its own parser does the work", () => {
    const long = "1234567890123456";
    fc.assert(fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
      // JSON cannot tell -0 from 0; the long number rules JSON.parse out.
      const text = JSON.stringify([value, Number(long)]);
      assertEquals(withoutBigint(parseFastjson(text)), JSON.parse(text));
    }));
  });

  it("throws nothing but FastjsonError on random text", () => {
    const unit = fc.constantFrom(..."{}[]:,'\"\\ax01-.eE tu\n");
    fc.assert(fc.property(fc.string({ unit, maxLength: 40 }), (text) => {
      try {
        parseFastjson(text);
      } catch (error) {
        assert(error instanceof FastjsonError, String(error));
      }
    }));
  });
});

describe("writeFastjson", () => {
  it("quotes integer keys and writes object keys as objects", () => {
    const queue = { brokerName: "b", queueId: 0, topic: "t" };
    assertEquals(
      writeFastjson({
        ids: new Map<FastjsonValue, FastjsonValue>([[0, "a"], [1n, "b"]]),
        offsetTable: new Map([[queue, 5]]),
        none: null,
        left: undefined,
        list: [true, 1.5, "x\u0001"],
        long: 9223372036854775807n,
      }),
      '{"ids":{"0":"a","1":"b"},"offsetTable":{{"brokerName":"b","queueId":0,"topic":"t"}:5},' +
        '"none":null,"list":[true,1.5,"x\\u0001"],"long":9223372036854775807}',
    );
  });

  it("is read back by the parser", () => {
    const keys = fc.record({ topic: fc.string(), queueId: fc.nat() }, {
      noNullPrototype: true,
    });
    const maps = fc.array(fc.tuple(keys, fc.integer()), { minLength: 1 });
    fc.assert(fc.property(maps, (entries) => {
      const map = new Map<FastjsonValue, FastjsonValue>(entries);
      const parsed = parseFastjson(writeFastjson(map)) as Map<unknown, unknown>;
      assertEquals([...parsed], [...map]);
    }));
  });

  it("refuses to nest without end", () => {
    let value: FastjsonValue = 1;
    for (let level = 0; level < 100; level++) value = [value];
    assertThrows(() => writeFastjson(value), RangeError);
  });
});
