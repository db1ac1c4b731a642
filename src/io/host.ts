/** Host: what a process may know of its machine. */

/** One address of a network interface. */
export interface HostAddress {
  readonly address: string;
  readonly family: 4 | 6;
  readonly isLoopback: boolean;
  readonly interfaceName: string;
}

/** The machine and the process. */
export interface Host {
  readonly pid: number;
  hostname(): string;
  addresses(): HostAddress[];
  cpuCount(): number;
  /** Physical memory or the cgroup's limit, whichever is smaller, in bytes. */
  memoryLimitBytes(): number;
  /** Files and sockets that this process may have open at once; Infinity when unknown. */
  openFilesMax(): number;
  /** Resident set of this process in bytes. */
  residentBytes(): number;
  /** CPU seconds (user + system) used by this process. */
  cpuSeconds(): number;
}
