/** One JVM of Apache's servers or tools, from the jars that `scripts/test interop` resolved. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { driverVersionOf } from "./versions.ts";

const FOLDER = new URL(".", import.meta.url).pathname;

/** Internal packages that these versions reach into, closed since JDK 16. */
const OPENED_PACKAGES = [
  "java.base/java.nio=ALL-UNNAMED",
  "java.base/sun.nio.ch=ALL-UNNAMED",
  "java.base/jdk.internal.ref=ALL-UNNAMED",
  "java.base/java.lang=ALL-UNNAMED",
];

/** 4.9 programs refuse to start without their logging file in ROCKETMQ_HOME/conf. */
const LOGBACK_49 = ["logback_broker", "logback_namesrv", "logback_tools"];

/** 5.x programs look for this one on the classpath; their own prints to stdout. */
const LOGBACK_5 = "rmq.logback";

/** Which JVM, and where it keeps everything it writes. */
export interface ApacheProcessOptions {
  version: string;
  mainClass: string;
  args: string[];
  /** Folder of its own: configuration, logs, `user.home`. */
  home: string;
  heapMb?: number;
  /** Instead of those that make a JVM small: heap, collector, compiler. */
  javaFlags?: readonly string[];
}

/** Writes the folder layout that Apache's programs expect around them. */
export function prepareApacheHome(home: string): void {
  mkdirSync(`${home}/conf`, { recursive: true });
  mkdirSync(`${home}/logs`, { recursive: true });
  for (const name of LOGBACK_49) {
    writeFileSync(`${home}/conf/${name}.xml`, logbackXml(home, "ch.qos"));
  }
  writeFileSync(
    `${home}/conf/${LOGBACK_5}.xml`,
    logbackXml(home, "org.apache.rocketmq.logging.ch.qos"),
  );
}

function logbackXml(home: string, packages: string): string {
  return `<configuration>
  <appender name="FILE" class="${packages}.logback.core.FileAppender">
    <file>${home}/logs/apache.log</file>
    <encoder><pattern>%d %p %t %logger - %m%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="FILE"/></root>
</configuration>
`;
}

/** A running JVM: what it printed, and how it ends. */
export class ApacheProcess {
  readonly #child: ChildProcess;
  readonly exited: Promise<number | null>;
  stdout = "";
  stderr = "";
  #isClosed = false;

  constructor(options: ApacheProcessOptions) {
    this.#child = spawn("java", javaArguments(options), {
      stdio: ["ignore", "pipe", "pipe"],
      // Tools write files where they stand.
      cwd: options.home,
      env: { ...process.env, ROCKETMQ_HOME: options.home },
    });
    this.#child.stdout!.on("data", (bytes) => this.stdout += bytes);
    this.#child.stderr!.on("data", (bytes) => this.stderr += bytes);
    this.exited = new Promise((resolve) => {
      this.#child.on("close", (code) => {
        this.#isClosed = true;
        resolve(code);
      });
    });
  }

  get pid(): number {
    return this.#child.pid!;
  }

  get output(): string {
    return this.stdout + this.stderr;
  }

  /** Resolves once the program has printed `text`; ends it and throws when it took too long. */
  async printed(text: string, timeoutMs = 60_000): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    while (!this.stdout.includes(text)) {
      const hasEnded = this.#isClosed;
      if (hasEnded || Date.now() > deadline) {
        // Nobody owns it yet.
        await this.stop("SIGKILL");
        throw new Error(
          `${hasEnded ? "Ended" : "Too slow"} before "${text}": ${this.output}`,
        );
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Sends a signal and waits for the end. */
  stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    this.#child.kill(signal);
    return this.exited;
  }
}

function javaArguments(options: ApacheProcessOptions): string[] {
  const { version, home, heapMb = 384 } = options;
  const classpath = [
    `${home}/conf`,
    `${FOLDER}target/${driverVersionOf(version)}/classes`,
    readFileSync(`${FOLDER}target/servers-${version}/classpath`, "utf8").trim(),
  ];
  const { javaFlags = smallJvm(heapMb) } = options;
  return [
    ...javaFlags,
    "-XX:-UsePerfData",
    "-Xshare:auto",
    "-Djava.net.preferIPv4Stack=true",
    `-Duser.home=${home}`,
    // The certificate of a server in test mode stays there.
    `-Djava.io.tmpdir=${home}`,
    `-Drocketmq.home.dir=${home}`,
    `-Drocketmq.client.logRoot=${home}/logs`,
    ...OPENED_PACKAGES.map((it) => `--add-opens=${it}`),
    "-cp",
    classpath.join(":"),
    options.mainClass,
    ...options.args,
  ];
}

function smallJvm(heapMb: number): string[] {
  return [
    "-Xms64m",
    `-Xmx${heapMb}m`,
    "-XX:MaxDirectMemorySize=256m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
  ];
}
