/** SimMasterProbe: the comparison of two logs, as a slave has it made over remoting. */
import { Buffer } from "node:buffer";
import type { LogComparison, MasterProbe } from "../../src/ha/master_probe.ts";
import type { MessageStore } from "../../src/store/message_store.ts";
import type { HANode } from "./ha_node.ts";

/** Bytes of the tail that are compared at least. */
const TAIL_SIZE = 64 * 1024;

/** Asks the simulated master over the simulated links. */
export class SimMasterProbe implements MasterProbe {
  constructor(
    private readonly slave: () => HANode,
    private readonly master: () => HANode,
    private readonly bootstrap: "last" | "min",
  ) {}

  async compare(): Promise<LogComparison> {
    const there = await this.#reach();
    const own = this.slave().life!.store;
    const masterMaxOffset = there.maxPhyOffset;
    if (own.maxPhyOffset === 0) {
      const min = there.minPhyOffset;
      const requestOffset = this.bootstrap === "last" || masterMaxOffset === 0
        ? 0
        : Math.max(min, 1);
      return { kind: "prefix", requestOffset, masterMaxOffset };
    }
    const stop = compareLogs(own, there);
    return stop ?? { kind: "prefix", requestOffset: 0, masterMaxOffset };
  }

  async masterMaxOffset(): Promise<number | null> {
    return (await this.#reach()).maxPhyOffset;
  }

  /** The master's store after a round trip; rejects when nobody answers. */
  async #reach(): Promise<MessageStore> {
    const { world, options } = this.slave();
    const { network } = world;
    const master = this.master();
    const { host } = master.options;
    const life = master.life;
    await new Promise<void>((arrive) =>
      network.link(options.host, host).send(0, arrive)
    );
    await new Promise<void>((arrive) =>
      network.link(host, options.host).send(0, arrive)
    );
    if (life === null || life !== master.life) throw new Error("No answer");
    return life.store;
  }
}

/** Undefined when `own` is a prefix of `there`, as far as the tail tells. */
export function compareLogs(
  own: MessageStore,
  there: MessageStore,
): LogComparison & { kind: "stop" } | undefined {
  const end = own.maxPhyOffset;
  if (end > there.maxPhyOffset) {
    return {
      kind: "stop",
      problem: "diverged",
      reason: `This log ends at ${end}, the master's at ${there.maxPhyOffset}`,
    };
  }
  if (end < there.minPhyOffset) {
    return {
      kind: "stop",
      problem: "needs-reseed",
      reason: `This log ends at ${end}, the master's begins at ` +
        `${there.minPhyOffset}`,
    };
  }
  const from = Math.max(
    own.minPhyOffset,
    there.minPhyOffset,
    end - TAIL_SIZE,
  );
  if (isEqualRange(own, there, from, end)) return undefined;
  return {
    kind: "stop",
    problem: "diverged",
    reason: `The bytes from ${from} to ${end} differ from the master's`,
  };
}

/** True when both logs hold the same bytes there. */
export function isEqualRange(
  one: MessageStore,
  other: MessageStore,
  from: number,
  to: number,
): boolean {
  if (to <= from) return true;
  const [a, b] = [new Uint8Array(to - from), new Uint8Array(to - from)];
  one.commitLog.readAt(from, a);
  other.commitLog.readAt(from, b);
  return Buffer.compare(a, b) === 0;
}
