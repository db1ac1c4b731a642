/**
 * Brings what the interop tests need: JDK and Maven from Debian's packages,
 * the drivers compiled, Apache's servers and tools resolved. What is newer
 * than its sources is not made again. Go is installed in CI alone: elsewhere
 * its client is tested where there is a Go, and the test says so where not.
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import {
  APACHE_SERVER_VERSIONS,
  ATTRIBUTES_TROUBLED_VERSION,
  ROCKETMQ_VERSIONS,
} from "../test/interop/versions.ts";

const FOLDER = "test/interop/";
const SOURCES = `${FOLDER}src/main/java/pocketmq/`;
const GO_SOURCES = `${FOLDER}go/`;
const GO_DRIVER = `${FOLDER}target/go/driver`;

/** A program, what it is called in a sentence, and Debian's package of it. */
interface Tool {
  program: string;
  name: string;
  debianPackage: string;
}

const JAVA_TOOLS: readonly Tool[] = [
  {
    program: "javac",
    name: "a JDK (javac)",
    debianPackage: "default-jdk-headless",
  },
  { program: "mvn", name: "Maven (mvn)", debianPackage: "maven" },
];
const GO: Tool = { program: "go", name: "Go (go)", debianPackage: "golang-go" };

interface Finished {
  ok: boolean;
  text: string;
}

/** Installs and compiles; returns what is missing as a sentence, or null. */
export function prepareInterop(): string | null {
  const tools = process.env.CI ? [...JAVA_TOOLS, GO] : JAVA_TOOLS;
  const missing = missingOf(tools);
  if (missing.length > 0) {
    const installed = installFromDebian(missing);
    const still = missingOf(tools).map((it) => it.name);
    if (still.length > 0) {
      return `The interop tests need ${still.join(" and ")}: ${installed}`;
    }
  }
  for (const version of ROCKETMQ_VERSIONS) {
    const compiled = compileDrivers(version);
    if (!compiled.ok) {
      return `Cannot compile the interop drivers with ${version}:\n${compiled.text}`;
    }
  }
  for (
    const version of [...APACHE_SERVER_VERSIONS, ATTRIBUTES_TROUBLED_VERSION]
  ) {
    const resolved = resolveServers(version);
    if (!resolved.ok) {
      return `Cannot resolve Apache's servers ${version}:\n${resolved.text}`;
    }
  }
  const built = buildGoDriver();
  return built.ok ? null : `Cannot build the Go driver:\n${built.text}`;
}

function missingOf(tools: readonly Tool[]): Tool[] {
  return tools.filter((it) => Bun.which(it.program) === null);
}

function installFromDebian(tools: readonly Tool[]): string {
  const packages = tools.map((it) => it.debianPackage);
  if (Bun.which("apt-get") === null || process.getuid?.() !== 0) {
    return `install ${packages.join(" and ")}`;
  }
  const update = spawn(["apt-get", "update"]);
  const install = spawn([
    "apt-get",
    "install",
    "-y",
    "--no-install-recommends",
    ...packages,
  ]);
  return install.ok
    ? "installed"
    : `apt-get failed:\n${update.text}${install.text}`;
}

function compileDrivers(version: string): Finished {
  const sources = readdirSync(SOURCES).map((name) => SOURCES + name);
  const target = `${FOLDER}target/${version}`;
  if (
    isMade(`${target}/classpath`, [`${FOLDER}pom.xml`]) &&
    isMade(`${target}/classes/pocketmq/Driver.class`, sources)
  ) {
    return { ok: true, text: "" };
  }
  return maven("pom.xml", version, ["compile"]);
}

function resolveServers(version: string): Finished {
  const classpath = `${FOLDER}target/servers-${version}/classpath`;
  return isMade(classpath, [`${FOLDER}servers.xml`])
    ? { ok: true, text: "" }
    : maven("servers.xml", version, ["initialize"]);
}

function buildGoDriver(): Finished {
  const sources = readdirSync(GO_SOURCES).map((name) => GO_SOURCES + name);
  if (isMade(GO_DRIVER, sources)) return { ok: true, text: "" };
  if (missingOf([GO]).length > 0) {
    console.log("skip the Go client is not run: Go is not installed");
    return { ok: true, text: "" };
  }
  return spawn(["go", "build", "-o", resolve(GO_DRIVER), "."], {
    cwd: GO_SOURCES,
    // The Go that is here, never another one from elsewhere.
    env: { GOTOOLCHAIN: "local" },
  });
}

/** True when `made` is newer than its sources and, if a classpath, all its jars are there. */
function isMade(made: string, sources: string[]): boolean {
  if (!existsSync(made)) return false;
  const madeAt = statSync(made).mtimeMs;
  if (sources.some((it) => statSync(it).mtimeMs > madeAt)) return false;
  if (!made.endsWith("/classpath")) return true;
  return readFileSync(made, "utf8").trim().split(":").every(existsSync);
}

function maven(pom: string, version: string, goals: string[]): Finished {
  return spawn([
    "mvn",
    "-q",
    "-B",
    "-f",
    FOLDER + pom,
    `-Drocketmq.version=${version}`,
    ...goals,
  ]);
}

function spawn(
  command: string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): Finished {
  const child = Bun.spawnSync(command, {
    ...options,
    stdout: "pipe",
    stderr: "pipe",
    env: {
      ...process.env,
      DEBIAN_FRONTEND: "noninteractive",
      ...options.env,
    },
  });
  return {
    ok: child.exitCode === 0,
    text: `${child.stdout}${child.stderr}`,
  };
}
