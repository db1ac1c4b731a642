/** Brings what the interop tests need: JDK and Maven from Debian's packages, the drivers compiled. */

import { ROCKETMQ_VERSIONS } from "../test/interop/versions.ts";

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
    const compiled = mavenCompile(version);
    if (!compiled.ok) {
      return `Cannot compile the interop drivers with ${version}:\n${compiled.text}`;
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

function mavenCompile(version: string): Finished {
  return spawn([
    "mvn",
    "-q",
    "-B",
    "-f",
    "test/interop/pom.xml",
    `-Drocketmq.version=${version}`,
    "compile",
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
