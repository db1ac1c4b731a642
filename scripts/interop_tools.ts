/**
 * Brings what the interop tests need: JDK and Maven from Debian's packages,
 * the drivers compiled, Apache's servers and tools resolved. What is newer
 * than its sources is not made again.
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import {
  APACHE_SERVER_VERSIONS,
  ATTRIBUTES_TROUBLED_VERSION,
  ROCKETMQ_VERSIONS,
} from "../test/interop/versions.ts";

const FOLDER = "test/interop/";
const SOURCES = `${FOLDER}src/main/java/pocketmq/`;

interface Finished {
  ok: boolean;
  text: string;
}

/** Installs and compiles; returns what is missing as a sentence, or null. */
export function prepareInterop(): string | null {
  const missing = missingTools();
  if (missing.length > 0) {
    const installed = installFromDebian();
    const still = missingTools();
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
  return null;
}

function missingTools(): string[] {
  return [["javac", "a JDK (javac)"], ["mvn", "Maven (mvn)"]]
    .filter(([tool]) => Bun.which(tool!) === null)
    .map(([, name]) => name!);
}

function installFromDebian(): string {
  if (Bun.which("apt-get") === null || process.getuid?.() !== 0) {
    return "install default-jdk-headless and maven";
  }
  const update = spawn(["apt-get", "update"]);
  const install = spawn([
    "apt-get",
    "install",
    "-y",
    "--no-install-recommends",
    "default-jdk-headless",
    "maven",
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

function spawn(command: string[]): Finished {
  const child = Bun.spawnSync(command, {
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  });
  return {
    ok: child.exitCode === 0,
    text: `${child.stdout}${child.stderr}`,
  };
}
