/** NodeHost: the Host port over node:os and the control groups of Linux. */
import { readFileSync } from "node:fs";
import {
  availableParallelism,
  hostname,
  networkInterfaces,
  totalmem,
} from "node:os";
import process from "node:process";
import type { Host, HostAddress } from "../io/host.ts";
import { cgroupMemoryLimit } from "./cgroup.ts";
import { openFilesLimit } from "./open_files_limit.ts";

/** The machine that this process runs on. */
export class NodeHost implements Host {
  readonly pid = process.pid;

  hostname(): string {
    return hostname();
  }

  addresses(): HostAddress[] {
    return Object.entries(networkInterfaces()).flatMap(([name, addresses]) =>
      (addresses ?? []).map((it) => ({
        address: it.address,
        family: it.family === "IPv4" ? 4 as const : 6 as const,
        isLoopback: it.internal,
        interfaceName: name,
      }))
    );
  }

  cpuCount(): number {
    return availableParallelism();
  }

  memoryLimitBytes(): number {
    return Math.min(totalmem(), cgroupMemoryLimit(readIfThere));
  }

  openFilesMax(): number {
    return openFilesLimit(readIfThere);
  }

  residentBytes(): number {
    return process.memoryUsage().rss;
  }

  cpuSeconds(): number {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000_000;
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined; // Not Linux, or not mounted: no limit to respect.
  }
}
