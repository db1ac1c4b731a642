/** What core code may not touch, and how long things may be. */
import { codeOf, roomOf, type Source, type TidyRule } from "./source.ts";

const FILE_LINES_MAX = 400;
const FUNCTION_LINES_MAX = 70;
const AT_THE_EDGE = ["runtime", "main"];

function findings(
  sources: readonly Source[],
  pattern: RegExp,
  say: (found: string) => string,
): string[] {
  return sources.flatMap((source) =>
    codeOf(source.text).split("\n").flatMap((line, index) => {
      const found = pattern.exec(line);
      return found === null
        ? []
        : [`${source.path}:${index + 1} ${say(found[0].trim())}`];
    })
  );
}

function core(sources: readonly Source[]): Source[] {
  return sources.filter((it) => !AT_THE_EDGE.includes(roomOf(it.path)));
}

/** Globals of a runtime live in src/runtime and main.ts. */
export const coreUsesNoRuntimeGlobal: TidyRule = (sources) =>
  findings(
    core(sources),
    /(?<![.\w#])(?:Bun|Deno|Buffer|console|globalThis)\b(?!\s*:)|(?<![.\w#])process\.(?:env|argv|exit|on|pid|nextTick|stdout|stderr|memoryUsage|cwd)\b/,
    (found) => `uses ${found}`,
  );

/** Time and chance are arguments. */
export const coreReadsNoClockOrChance: TidyRule = (sources) =>
  findings(
    core(sources),
    /(?<![.\w#])(?:Date\.now|new Date\(\)|performance\.|(?:set|clear)(?:Timeout|Interval|Immediate)\b|Math\.random|crypto\.)/,
    (found) => `uses ${found}: take Clock or Random`,
  );

/** No TypeScript enum, namespace or any, no default export, no unfinished work. */
export const codeKeepsHouseStyle: TidyRule = (sources) => [
  ...findings(
    sources,
    /^\s*(?:export\s+)?(?:const\s+)?enum\s+\w|^\s*(?:export\s+)?namespace\s|^\s*export\s+default\b|(?::|\bas)\s+any\b|<any>/,
    (found) => `has ${found}`,
  ),
  ...sources.flatMap((source) =>
    source.text.split("\n").flatMap((line, index) =>
      new RegExp("\\b(TO" + "DO|FIX" + "ME|XX" + "X|HA" + "CK)\\b(?!_)").test(
          line.replaceAll("SCHEDULE_TOPIC_XXXX", ""),
        )
        ? [`${source.path}:${index + 1} names unfinished work`]
        : []
    )
  ),
];

/** One concept, one file. */
export const filesAreShort: TidyRule = (sources) =>
  sources.filter((it) => it.text.split("\n").length > FILE_LINES_MAX)
    .map((it) =>
      `${it.path} has ${
        it.text.split("\n").length
      } lines, more than ${FILE_LINES_MAX}`
    );

/** A function fits on a screen. Found by indentation, which `deno fmt` guarantees. */
export const functionsAreShort: TidyRule = (sources) =>
  sources.flatMap((source) => {
    const lines = codeOf(source.text).split("\n");
    const long: string[] = [];
    lines.forEach((line, index) => {
      const start =
        /^(\s*)(?:export\s+)?(?:static\s+|override\s+|get\s+|set\s+|async\s+|\*)*(?:function\b.*|#?[\w]+(?:<[^>]*>)?\(.*|(?:const|let)\s+\w+\s*=.*=>\s*)\{\s*$/
          .exec(line);
      if (start === null || /^\s*(?:if|for|while|switch|return)\b/.test(line)) {
        return;
      }
      const close = `${start[1]}}`;
      const end = lines.findIndex((it, at) =>
        at > index && it.startsWith(close) && !it.startsWith(`${close} `)
      );
      if (end - index + 1 > FUNCTION_LINES_MAX) {
        long.push(
          `${source.path}:${index + 1} has a function of ${
            end - index + 1
          } lines, more than ${FUNCTION_LINES_MAX}`,
        );
      }
    });
    return long;
  });

const ROW = /^\s*\*\s*\|\s*(\d+)(\S*)\s*\|\s*(\d+)?(\S*)\s*\|/;

/** Layout tables start at 0 and every row begins where the one before ends. */
export const layoutTablesAreContiguous: TidyRule = (sources) =>
  sources.flatMap((source) => {
    const wrong: string[] = [];
    let expected: number | null = null;
    let inTable = false;
    source.text.split("\n").forEach((line, index) => {
      if (/\|\s*offset\s*\|\s*size\s*\|/i.test(line)) {
        inTable = true;
        expected = 0;
        return;
      }
      if (!inTable || /\|\s*-+:?\s*\|/.test(line)) return;
      if (!/^\s*\*\s*\|/.test(line)) {
        inTable = false;
        return;
      }
      const row = ROW.exec(line);
      const exact = row !== null && row[2] === "";
      if (exact && expected !== null && Number(row[1]) !== expected) {
        wrong.push(
          `${source.path}:${index + 1} starts at ${
            row[1]
          }, the row before ends at ${expected}`,
        );
      }
      expected = exact && row[3] !== undefined && row[4] === ""
        ? Number(row[1]) + Number(row[3])
        : null;
    });
    return wrong;
  });

/** A `setInt32`-style codec file has its layout as a table, or names the file that has it. */
export const codecsHaveLayoutTables: TidyRule = (sources) =>
  sources.filter((it) =>
    ["store", "ha", "protocol", "model"].includes(roomOf(it.path)) &&
    (codeOf(it.text).match(/\.set(?:Big)?U?[Ii]nt(?:16|32|64)\(/g) ?? [])
        .length >= 3 &&
    !/\|\s*(?:offset|order)\s*\|\s*size\s*\||[Ll]ayout\b.*\w+\.ts/i.test(
      it.text,
    )
  ).map((it) => `${it.path} writes bytes without a layout table`);
