/** Runtime: the ports of one process, filled in by the adapters of one runtime. */
import type { Clock } from "../io/clock.ts";
import type { FileSystem } from "../io/file_system.ts";
import type { Host } from "../io/host.ts";
import type { HttpServer } from "../io/http_server.ts";
import type { Logger } from "../io/logger.ts";
import type { Network } from "../io/network.ts";
import type { Random } from "../io/random.ts";
import type { Tls } from "../io/tls.ts";
import type { Process } from "./process.ts";

/** How log lines are written. */
export interface LogOptions {
  readonly level: "debug" | "info" | "warn" | "error";
  /** `text` for people, `json` one object a line. */
  readonly format: "text" | "json";
}

/** The ports of one process. */
export interface Runtime {
  readonly name: "bun" | "deno";
  readonly fileSystem: FileSystem;
  readonly network: Network;
  readonly clock: Clock;
  readonly random: Random;
  readonly host: Host;
  readonly httpServer: HttpServer;
  /** Loads it with the first call: programs without TLS pay nothing. */
  readonly openTls: () => Promise<Tls>;
  /** Arguments, environment, signals, standard streams, exit: for main.ts and src/cli. */
  readonly process: Process;
  /** Builds the root logger; lines go to standard error. */
  openLogger(options: LogOptions): Logger;
  /**
   * Gives back memory that past work needed: code that does not run, in a few milliseconds, or
   * `all` of it, with garbage, in some tens of them.
   */
  releaseIdleMemory(what: "code" | "all"): void;
}
