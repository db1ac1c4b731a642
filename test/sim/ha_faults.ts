/** Faults of a simulated pair: each strikes, and is undone some turns later. */
import { HA_TAKEOVERS } from "./ha_takeovers.ts";
import type { HANode } from "./ha_node.ts";
import type { HAPair, Step } from "./ha_pair.ts";
import { HA_PORT } from "./ha_remoting.ts";

/** Strikes; answers with what undoes it, or with null where nothing can be struck now. */
export type HAFault = (pair: HAPair) => Step | null;

function isLogFile(path: string): boolean {
  return path.includes("/commitlog/");
}

/** The process is gone until the undo lets it start again. */
function down(pair: HAPair, node: HANode, isPower: boolean): Step | null {
  if (node.life === null) return null;
  pair.end(node, isPower);
  return () => void pair.wantsStart.add(node);
}

/** The log cannot be made durable until the undo. */
function cannotSync(pair: HAPair, node: HANode): Step {
  const { faults } = node.disk;
  faults.failSync = ({ path }) => isLogFile(path);
  return () => {
    faults.failSync = undefined;
    // What a failed sync leaves in the page cache may never get to the disk: a machine in
    // that state has to be started anew, not only its process.
    pair.end(node, true);
    pair.wantsStart.add(node);
  };
}

/** Every fault, by name. */
export const HA_FAULTS: Readonly<Record<string, HAFault>> = {
  ...HA_TAKEOVERS,
  "cut now"({ network, hosts }) {
    network.cut(...hosts);
    return () => network.heal(...hosts);
  },
  "cut at a byte"({ wire, random }) {
    wire.cutAfterBytes = random.nextInt(1500);
    return () => {};
  },
  "lost frame"({ wire }) {
    wire.losesFrame = true;
    return () => {};
  },
  "slow link"({ network, hosts, random }) {
    const [one, other] = hosts;
    network.link(one, other).delayMs = random.nextInt(400);
    network.link(other, one).delayMs = random.nextInt(400);
    return () => {
      network.link(one, other).delayMs = 1;
      network.link(other, one).delayMs = 1;
    };
  },
  "thin link"({ network, hosts, random }) {
    const link = network.link(...hosts);
    link.bytesPerSecond = 500 + random.nextInt(3000);
    return () => void (link.bytesPerSecond = Infinity);
  },
  "silent link"({ network, hosts }) {
    network.partition(...hosts);
    return () => network.heal(...hosts);
  },
  "silent way back"({ network, hosts: [one, other] }) {
    const link = network.link(other, one);
    link.blackhole();
    return () => link.heal();
  },
  // The master keeps the old link while the new one comes.
  "crossing reconnect"(pair) {
    if (pair.slave.life === null) return null;
    pair.end(pair.slave, true);
    pair.wantsStart.add(pair.slave);
    return () => {};
  },
  "slave stops following"({ slave }) {
    const client = slave.life?.client;
    if (client === null || client === undefined) return null;
    client.stop();
    return () => {
      if (slave.life?.client === client) client.start();
    };
  },
  "slave killed": (pair) => down(pair, pair.slave, false),
  "slave without power": (pair) => down(pair, pair.slave, true),
  "master killed": (pair) => down(pair, pair.master, false),
  "master without power": (pair) => down(pair, pair.master, true),
  "slave cannot write"({ slave }) {
    slave.disk.faults.failWrite = isLogFile;
    return () => void (slave.disk.faults.failWrite = undefined);
  },
  "slave disk full"({ slave }) {
    slave.disk.faults.capacityBytes = slave.disk.usedBytes + 4096;
    return () => void (slave.disk.faults.capacityBytes = Infinity);
  },
  "slave disk read-only"({ slave }) {
    slave.disk.faults.isReadOnly = true;
    return () => void (slave.disk.faults.isReadOnly = false);
  },
  "slave cannot sync": (pair) => cannotSync(pair, pair.slave),
  "slow syncs"({ slave, random }) {
    slave.disk.faults.syncDelayMs = () => random.nextInt(200);
    return () => void (slave.disk.faults.syncDelayMs = () => 0);
  },
  "master cannot write"({ master }) {
    master.disk.faults.failWrite = isLogFile;
    return () => void (master.disk.faults.failWrite = undefined);
  },
  "master disk full"({ master }) {
    master.disk.faults.capacityBytes = master.disk.usedBytes + 4096;
    return () => void (master.disk.faults.capacityBytes = Infinity);
  },
  "master disk read-only"({ master }) {
    master.disk.faults.isReadOnly = true;
    return () => void (master.disk.faults.isReadOnly = false);
  },
  "master cannot sync": (pair) => cannotSync(pair, pair.master),
  "master cannot read"({ master }) {
    master.disk.faults.failRead = isLogFile;
    return () => void (master.disk.faults.failRead = undefined);
  },
  "master's old files gone"(pair) {
    const { master, random } = pair;
    const queue = master.life?.store.commitLog.mappedFileQueue;
    if (queue === undefined || queue.files.length === 0) return null;
    // Nothing can be removed there.
    if (master.disk.faults.isReadOnly) return null;
    pair.checker.onDeleted(master);
    queue.deleteFirstFiles(1 + random.nextInt(queue.files.length)).catch(
      () => pair.hits.add("deletion: the disk cannot sync"),
    );
    return () => {};
  },
  "stranger"(pair) {
    const { master, random, network } = pair;
    const end = master.life?.store.maxPhyOffset ?? 0;
    const claimed = end + 1 + random.nextInt(1_000_000);
    pair.onFakeAck(claimed);
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setBigInt64(
      0,
      random.pick([BigInt(claimed), 0x7fff_ffff_ffff_ffffn, -1n]),
    );
    network.host("10.0.0.9").connect(
      { hostname: master.options.host, port: HA_PORT },
      { onData() {}, onDrain() {}, onClose() {} },
    ).then((it) => void it.write(bytes), () => {});
    return () => {};
  },
};

export const HA_FAULT_NAMES = Object.keys(HA_FAULTS);
