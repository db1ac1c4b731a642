import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { HATransferQueue } from "../../src/ha/ha_transfer_queue.ts";
import { TransferDecoder } from "../../src/ha/transfer_header.ts";
import type { Connection } from "../../src/io/network.ts";

const MIB = 1024 * 1024;

/** Every MiB of the log has its own. */
function byteAt(phyOffset: number): number {
  return Math.floor(phyOffset / MIB) % 251;
}

/** A socket that takes nothing until `drain`, and what the queue asks of the log. */
class Rig {
  readonly reads: { phyOffset: number; done(isThere: boolean): void }[] = [];
  readonly failures: string[] = [];
  readonly scratch = new Uint8Array(MIB);
  readonly sent: string[] = [];
  readonly queue: HATransferQueue;
  readonly #decoder = new TransferDecoder();
  #held: Uint8Array[] = [];
  isHot = false;

  constructor() {
    const held = () => this.#held;
    const connection = {
      get queuedBytes() {
        return held().reduce((sum, it) => sum + it.length, 0);
      },
      write: (bytes: Uint8Array, isLent?: boolean) => {
        this.#held.push(isLent ? bytes : bytes.slice());
        return connection.queuedBytes;
      },
    } as unknown as Connection & { queuedBytes: number };
    this.queue = new HATransferQueue({
      connection,
      log: {
        mappedFileSize: 1024 * MIB,
        maxOffset: 1024 * MIB,
        isHot: () => this.isHot,
        read: (phyOffset, target) => {
          for (let at = 0; at < target.length; at += MIB) {
            target.fill(byteAt(phyOffset + at), at, at + MIB);
          }
          if (this.isHot) return true;
          return new Promise<boolean>((resolve) => {
            this.reads.push({ phyOffset, done: resolve });
          });
        },
      },
      scratch: (size) => this.scratch.subarray(0, size),
      onFailed: (reason) => {
        this.failures.push(reason);
        this.queue.close();
      },
      onProgress: () => {},
    });
  }

  transfer(phyOffset: number, size: number): void {
    this.queue.push({ kind: "transfer", phyOffset, size });
    this.queue.run();
  }

  /** The next read of the log ends. */
  async read(isThere = true): Promise<number> {
    const { phyOffset, done } = this.reads.shift()!;
    done(isThere);
    for (let turn = 0; turn < 8; turn++) await null;
    return phyOffset;
  }

  /** The socket sends what it holds. */
  drain(): void {
    for (const bytes of this.#held.splice(0)) {
      this.#decoder.push(bytes, {
        onHeader: (phyOffset, size) =>
          void this.sent.push(`${phyOffset}+${size}`),
        onBody: (body) => {
          const phyOffset = Number(this.sent.at(-1)!.split("+")[0]);
          assertEquals(body.every((it) => it === byteAt(phyOffset)), true);
        },
      });
    }
    this.queue.run();
  }
}

test("HATransferQueue reads ahead while the socket is full, and keeps the order", async () => {
  const rig = new Rig();
  for (let index = 0; index < 4; index++) rig.transfer(index * MIB, MIB);
  rig.queue.push({ kind: "heartbeat", phyOffset: 4 * MIB });
  assertEquals(await rig.read(), 0); // A block of four.
  for (let index = 0; index < 3; index++) {
    assertEquals(rig.queue.isEmpty, false);
    rig.drain();
  }
  assertEquals(rig.reads.map((it) => it.phyOffset), [4 * MIB]); // Ahead.
  rig.drain();
  rig.drain();
  assertEquals(rig.queue.isEmpty, true);
  assertEquals(rig.sent, [
    `0+${MIB}`,
    `${MIB}+${MIB}`,
    `${2 * MIB}+${MIB}`,
    `${3 * MIB}+${MIB}`,
    `${4 * MIB}+0`,
  ]);
});

test("HATransferQueue sends small hot batches without a buffer of the link's own", () => {
  const rig = new Rig();
  rig.isHot = true;
  rig.transfer(0, 100);
  rig.transfer(100, 200);
  rig.drain();
  assertEquals(rig.sent, ["0+100", "100+200"]);
  assertEquals(rig.queue.isBulk, false);
});

test("HATransferQueue ends the link when the bytes are gone, and sends nothing more", async () => {
  const rig = new Rig();
  rig.transfer(0, MIB);
  rig.transfer(MIB, MIB);
  await rig.read(false);
  assertEquals(rig.failures, [`The log has no ${MIB} bytes at 0 any more`]);
  rig.drain();
  assertEquals(rig.sent, []);
});

test("HATransferQueue closed during a read lets its result go", async () => {
  const rig = new Rig();
  rig.transfer(0, MIB);
  rig.queue.close();
  await rig.read();
  rig.drain();
  assertEquals([rig.sent, rig.failures], [[], []]);
});

test("HATransferQueue is in bulk until a whole tick has passed without a large batch", async () => {
  const rig = new Rig();
  rig.transfer(0, MIB);
  assertEquals(rig.queue.isBulk, true);
  await rig.read();
  rig.drain();
  rig.queue.tick();
  assertEquals(rig.queue.isBulk, true);
  rig.queue.tick();
  assertEquals(rig.queue.isBulk, false);
});
