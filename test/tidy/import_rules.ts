/** Who may import whom. */
import { importsOf, roomOf, type Source, type TidyRule } from "./source.ts";

const CORE = ["base", "model", "protocol", "io"];

/** Room -> rooms it may import beside itself; what is not listed may import nothing. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  base: [],
  io: ["base"],
  model: ["base"],
  protocol: ["base", "model"],
  filter: ["base", "model"],
  store: ["base", "model", "io"],
  ha: ["base", "model", "io", "store"],
  remoting: CORE,
  auth: [...CORE, "remoting"],
  namesrv: [...CORE, "remoting"],
  client: [...CORE, "remoting"],
  broker: [...CORE, "filter", "store", "ha", "remoting", "client"],
  metrics: ["base", "io"],
  config: ["base", "model"],
  admin: [...CORE],
  runtime: ["base", "io"],
  cli: [
    ...CORE,
    "filter",
    "store",
    "ha",
    "remoting",
    "namesrv",
    "client",
    "broker",
    "auth",
    "metrics",
    "config",
    "admin",
    "runtime",
  ],
  main: ["cli", "runtime"],
};

/** Packages and the rooms that may import them; all others are refused. */
const PACKAGES: readonly [RegExp, readonly string[]][] = [
  [/^hono(\/|$)/, ["admin"]],
  [/^@hono\/zod-openapi$/, ["admin"]],
  [/^yaml$/, ["auth"]],
  [/^zod(\/|$)/, ["admin", "auth", "config"]],
  [/^properties-file(\/|$)/, ["config"]],
  [/^commander$/, ["cli"]],
  [/^cli-table3$/, ["cli"]],
  [/^@logtape\//, ["runtime"]],
  [/^bun(:|$)/, ["runtime"]],
  [/^node:(zlib|crypto)$/, ["base", "runtime"]],
  [/^node:/, ["runtime"]],
  [/^#runtime$/, ["main"]],
];

/** src/ imports only downwards; options types may be imported by config. */
export const importsPointDown: TidyRule = (sources) =>
  sources.flatMap((source) => {
    const room = roomOf(source.path);
    return importsOf(source).flatMap(({ target, isTypeOnly }) => {
      if (target === null) return [];
      const other = roomOf(target);
      if (other === room || MAY_IMPORT[room]?.includes(other)) return [];
      if (room === "config" && isTypeOnly && target.endsWith("_options.ts")) {
        return [];
      }
      return [`${source.path} may not import ${target}`];
    });
  });

/** Packages stay at the edges. */
export const packagesStayAtTheEdges: TidyRule = (sources) =>
  sources.flatMap((source) =>
    importsOf(source).filter(({ specifier, target }) => {
      if (target !== null) return false;
      const rule = PACKAGES.find(([pattern]) => pattern.test(specifier));
      return rule === undefined || !rule[1].includes(roomOf(source.path));
    }).map(({ specifier }) => `${source.path} may not import ${specifier}`)
  );

/** No file imports itself through others; type-only imports do not count. */
export const importsAreAcyclic: TidyRule = (sources) => {
  const graph = new Map(sources.map((it) => [it.path, valueImports(it)]));
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, trail: string[]) => {
    const start = trail.indexOf(path);
    if (start >= 0) {
      cycles.push(
        `Imports go round: ${[...trail.slice(start), path].join(" -> ")}`,
      );
      return;
    }
    if (done.has(path)) return;
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  return cycles;
};

function valueImports(source: Source): string[] {
  return importsOf(source).filter((it) => it.target !== null && !it.isTypeOnly)
    .map((it) => it.target!);
}

/** Every file is reached from main.ts or from a runtime's entry. */
export const everyFileIsUsed: TidyRule = (sources) => {
  const graph = new Map(
    sources.map((it) => [it.path, importsOf(it).map(({ target }) => target)]),
  );
  const reached = new Set<string>();
  const visit = (path: string) => {
    if (reached.has(path)) return;
    reached.add(path);
    for (const next of graph.get(path) ?? []) if (next !== null) visit(next);
  };
  for (
    const entry of [
      "src/main.ts",
      "src/runtime/bun_runtime.ts",
      "src/runtime/deno_runtime.ts",
    ]
  ) visit(entry);
  return sources.filter((it) => !reached.has(it.path))
    .map((it) => `${it.path} is imported by nobody`);
};
