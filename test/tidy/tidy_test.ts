/** The house style as a test; every rule is shown to catch its breach. */
import { assert, assertEquals } from "@std/assert";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import * as code from "./code_rules.ts";
import * as imports from "./import_rules.ts";
import { readSources, type TidyRule } from "./source.ts";

const sources = readSources("src");

/** Rule, a file that breaks it, and a file that does not. */
const RULES: readonly [string, TidyRule, string, string, string][] = [
  [
    "imports point down",
    imports.importsPointDown,
    "src/store/x.ts",
    'import { a } from "../broker/a.ts";\n',
    'import { a } from "../base/a.ts";\n',
  ],
  [
    "re-exports point down",
    imports.importsPointDown,
    "src/base/x.ts",
    'export type { A } from "../io/clock.ts";\n',
    'export type { A } from "./a.ts";\n',
  ],
  [
    "packages stay at the edges",
    imports.packagesStayAtTheEdges,
    "src/store/x.ts",
    'import { z } from "zod";\n',
    'import { z } from "./z.ts";\n',
  ],
  [
    "imports are acyclic",
    imports.importsAreAcyclic,
    "src/base/x.ts",
    'import { x } from "./x.ts";\n',
    'import type { x } from "./x.ts";\n',
  ],
  [
    "core uses no runtime global",
    code.coreUsesNoRuntimeGlobal,
    "src/store/x.ts",
    "const a = Buffer.alloc(1);\n",
    "const a = this.Buffer;\n",
  ],
  [
    "core uses no process",
    code.coreUsesNoRuntimeGlobal,
    "src/cli/x.ts",
    "const a = process.env;\n",
    "const a = runtime.process.env;\n",
  ],
  [
    "core reads no clock",
    code.coreReadsNoClockOrChance,
    "src/store/x.ts",
    "const a = Date.now();\n",
    "const a = new Date(nowMs);\n",
  ],
  [
    "core reads no chance",
    code.coreReadsNoClockOrChance,
    "src/store/x.ts",
    "const a = Math.random();\n",
    "const a = Math.max(1, 2);\n",
  ],
  [
    "house style",
    code.codeKeepsHouseStyle,
    "src/store/x.ts",
    "export enum A { B }\n",
    "export const A = 1;\n",
  ],
  [
    "no unfinished work",
    code.codeKeepsHouseStyle,
    "src/store/x.ts",
    "// TO" + "DO later\n",
    "// SCHEDULE_TOPIC_XXXX\n",
  ],
  [
    "files are short",
    code.filesAreShort,
    "src/store/x.ts",
    "\n".repeat(401),
    "\n".repeat(399),
  ],
  [
    "functions are short",
    code.functionsAreShort,
    "src/store/x.ts",
    `function a() {\n${"  b();\n".repeat(70)}}\n`,
    `function a() {\n${"  b();\n".repeat(68)}}\n`,
  ],
  [
    "layout tables are contiguous",
    code.layoutTablesAreContiguous,
    "src/store/x.ts",
    "/**\n * | offset | size | type |\n * | -: | -: | - |\n * | 0 | 4 | i32 |\n * | 5 | 4 | i32 |\n */\n",
    "/**\n * | offset | size | type |\n * | -: | -: | - |\n * | 0 | 4 | i32 |\n * | 4 | 4 | i32 |\n */\n",
  ],
  [
    "codecs have layout tables",
    code.codecsHaveLayoutTables,
    "src/store/x.ts",
    "view.setInt32(0, 1);\nview.setInt32(4, 1);\nview.setInt32(8, 1);\n",
    "/**\n * | offset | size |\n */\nview.setInt32(0, 1);\nview.setInt32(4, 1);\nview.setInt32(8, 1);\n",
  ],
];

describe("Tidy", () => {
  for (const [name, rule, path, broken, sound] of RULES) {
    it(`${name}: holds in src/ and is caught when broken`, () => {
      assertEquals(rule(sources), []);
      assert(rule([{ path, text: broken }]).length > 0, "breach not caught");
      assertEquals(rule([{ path, text: sound }]), []);
    });
  }

  it("every file of src/ is reached from an entry, and a dead one is caught", () => {
    assertEquals(imports.everyFileIsUsed(sources), []);
    const dead = { path: "src/base/dead.ts", text: "" };
    assertEquals(imports.everyFileIsUsed([...sources, dead]).length, 1);
  });

  it("the strict flags of both type checkers are equal", () => {
    const flagsOf = (file: string) => {
      const options = JSON.parse(readFileSync(file, "utf8")).compilerOptions;
      return Object.fromEntries(
        Object.entries(options).filter(([name]) =>
          /^(strict|no[A-Z](?!Emit)|exact|verbatim)/.test(name) &&
          name !== "noEmit"
        ).sort(),
      );
    };
    assertEquals(flagsOf("deno.json"), flagsOf("tsconfig.json"));
  });

  it("the lock file records no download addresses", () => {
    assert(!readFileSync("package-lock.json", "utf8").includes('"resolved"'));
  });

  it("the top level holds what the project owns and nothing else", () => {
    const known = new Set(
      "deno.json bunfig.toml src test scripts README.md package.json package-lock.json tsconfig.json LICENSE CHANGELOG.md .ci .gitignore .npmrc .git .github node_modules dist"
        .split(" "),
    );
    assertEquals(readdirSync(".").filter((name) => !known.has(name)), []);
    assert(existsSync("src/README.md"));
  });
});
