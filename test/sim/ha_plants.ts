/** Bugs that a test plants into a simulated pair: the checker has to find each of them. */
import type { HAService } from "../../src/ha/ha_service.ts";
import type { LogComparison, MasterProbe } from "../../src/ha/master_probe.ts";
import type { Clock } from "../../src/io/clock.ts";
import type { ConnectionEvents } from "../../src/io/network.ts";
import type { ReplicaLog } from "../../src/store/replica_log.ts";
import type { HALife } from "./ha_life.ts";
import type { HANode, HANodeOptions } from "./ha_node.ts";
import { withoutHeaderCheck } from "./ha_wire.ts";

export const HA_PLANTS = [
  "ack-before-append",
  "no-header-check",
  "no-comparison",
  "any-ack-believed",
  "promotion-not-synced",
  "promotion-not-written",
  "no-fence",
] as const;
export type HAPlant = typeof HA_PLANTS[number];

/** How long a planted slave lets appends wait. */
const LATE_MS = 30;

/** ack-before-append: the log says that it has the bytes, and writes them later. */
function lateLog(log: ReplicaLog, clock: Clock): ReplicaLog {
  let end = log.maxOffset;
  const late: Pick<
    ReplicaLog,
    keyof ReplicaLog
  > = {
    get minOffset() {
      return log.minOffset;
    },
    get maxOffset() {
      return end;
    },
    get flushedOffset() {
      return end;
    },
    get mappedFileSize() {
      return log.mappedFileSize;
    },
    get isEmpty() {
      return log.isEmpty;
    },
    get lastRecord() {
      return log.lastRecord;
    },
    get unappendableReason() {
      return log.unappendableReason;
    },
    isHot: (phyOffset) => log.isHot(phyOffset),
    read: (phyOffset, target) => log.read(phyOffset, target),
    append: (phyOffset, bytes) => {
      const own = bytes.slice();
      end = phyOffset + own.length;
      clock.after(LATE_MS, () => {
        try {
          log.append(phyOffset, own);
        } catch {
          // The planted bug: nobody hears of it.
        }
      });
      return true;
    },
    flush: () => log.flush(),
    adoptFileSize: (size) => log.adoptFileSize(size),
  };
  return late as ReplicaLog;
}

/** no-comparison: every log is taken for a prefix of the master's. */
function blindProbe(probe: MasterProbe): MasterProbe {
  return {
    compare: async (address): Promise<LogComparison> => {
      const found = await probe.compare(address);
      if (found.kind === "prefix") return found;
      return { kind: "prefix", requestOffset: 0, masterMaxOffset: 0 };
    },
    masterMaxOffset: (address) => probe.masterMaxOffset(address),
  };
}

/** any-ack-believed: what anybody ever reported lifts the mark, and it never falls. */
function believeAnyAck(service: HAService, highest: () => number): void {
  const waits = service.groupTransferService;
  const onAcks = waits.onAcks.bind(waits);
  waits.onAcks = (slaves) =>
    onAcks([...slaves, { slaveAckOffset: highest(), coversFrom: 0 }]);
}

/** Puts one bug where it belongs; none: everything as it is. */
export class HAPlanter {
  #highestFake = -1;

  constructor(private readonly plant: HAPlant | null) {}

  options(): Partial<HANodeOptions> {
    return this.plant === "ack-before-append" ? { wrapLog: lateLog } : {};
  }

  probe(probe: MasterProbe): MasterProbe {
    return this.plant === "no-comparison" ? blindProbe(probe) : probe;
  }

  events(inner: ConnectionEvents, node: HANode): ConnectionEvents {
    return this.plant === "no-header-check" && !node.isMaster
      ? withoutHeaderCheck(inner, () => node.life!.store.maxPhyOffset)
      : inner;
  }

  onFakeAck(offset: number): void {
    this.#highestFake = Math.max(this.#highestFake, offset);
  }

  /** Around a promotion. */
  onPromotion(node: HANode, isPromoted: boolean): void {
    node.forgetsPromotion = isPromoted &&
      this.plant === "promotion-not-written";
    node.disk.faults.dropSync =
      isPromoted && this.plant === "promotion-not-synced"
        ? ({ path }) => path.includes("/commitlog")
        : undefined;
  }

  onStarted(node: HANode, { fence, service }: HALife): void {
    if (this.plant === "any-ack-believed" && node.isMaster) {
      believeAnyAck(service, () => this.#highestFake);
    }
    if (this.plant === "no-fence") fence.refusal = () => null;
  }
}
