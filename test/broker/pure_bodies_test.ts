/** What is stored is what its sender wrote, however connections and TCP segments mix (scenario 84). */
import { assert, assertEquals } from "@std/assert";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { encodeMessageBatch } from "../../src/model/message_batch.ts";
import { decodeMessageRecord } from "../../src/model/message_record.ts";
import { FrameDecoder } from "../../src/protocol/frame_decoder.ts";
import { createRequest } from "../../src/protocol/remoting_command.ts";
import {
  decodeCommand,
  encodeCommand,
} from "../../src/protocol/remoting_command_codec.ts";
import { SimRandom } from "../sim/sim_random.ts";
import { eventually } from "../support/eventually.ts";
import { RawClient } from "../support/raw_client.ts";
import { withTempDirectory } from "../support/temp_directory.ts";
import { HEARTBEAT, startBroker } from "./broker_site.ts";

const CONNECTIONS = 24;
const SENDS = 20;
const QUEUES = 4;

/** A body that names its connection in every byte but the first two, which number it. */
function bodyOf(connection: number, index: number, size: number): Uint8Array {
  const body = new Uint8Array(size).fill(connection + 1);
  body[0] = index;
  body[1] = connection + 1;
  return body;
}

/** Sends, batches and pulls of one connection, back to back. */
function framesOf(connection: number, random: SimRandom): Uint8Array[] {
  const topic = `T${connection % 8}`;
  const fields = {
    a: "p",
    b: topic,
    c: "TBW102",
    d: String(QUEUES),
    e: String(connection % QUEUES),
    f: "0",
    g: "1700000000000",
    h: "0",
    i: `KEYS\u0001c${connection}\u0002`,
  };
  const pull = {
    consumerGroup: "g",
    topic,
    queueId: String(connection % QUEUES),
    queueOffset: "0",
    maxMsgNums: "32",
    sysFlag: "4",
    commitOffset: "0",
    suspendTimeoutMillis: "0",
    subscription: "*",
    subVersion: "0",
  };
  const frames: Uint8Array[] = [];
  let opaque = 0;
  const push = (
    code: number,
    ext: Record<string, string>,
    body?: Uint8Array,
  ) => {
    const request = createRequest(code, ext, body);
    request.opaque = ++opaque;
    frames.push(encodeCommand(request));
  };
  for (let index = 0; index < SENDS; index++) {
    const body = bodyOf(connection, index, 2 + random.nextInt(3_000));
    if (random.oneIn(5)) {
      const entry = { flag: 0, body, propertiesText: "" };
      push(320, { ...fields, m: "true" }, encodeMessageBatch([entry]));
    } else push(310, fields, body);
    if (random.oneIn(3)) push(11, pull);
  }
  return frames;
}

/** Writes `bytes` in pieces that care for no frame; other connections come in between. */
async function dribble(
  socket: Socket,
  bytes: Uint8Array,
  random: SimRandom,
): Promise<void> {
  for (let from = 0; from < bytes.length;) {
    const size = 1 + random.nextInt(random.oneIn(4) ? 40 : 6_000);
    socket.write(bytes.subarray(from, from + size));
    from += size;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Resolves with the codes of the answers, one for each frame. */
async function talk(
  address: string,
  frames: readonly Uint8Array[],
  random: SimRandom,
): Promise<number[]> {
  const [host, port] = address.split(":");
  const socket = connect(Number(port), host!);
  socket.setNoDelay(true);
  const decoder = new FrameDecoder();
  const codes: number[] = [];
  socket.on(
    "data",
    (bytes) =>
      decoder.push(
        new Uint8Array(bytes as Uint8Array),
        (buffer, start, end) => {
          codes.push(decodeCommand(buffer, start, end).code);
          return true;
        },
      ),
  );
  await dribble(socket, Buffer.concat(frames), random);
  await eventually(() => codes.length === frames.length, {
    timeoutMs: 30_000,
  });
  socket.destroy();
  return codes;
}

for (const flushDiskType of ["ASYNC_FLUSH", "SYNC_FLUSH"] as const) {
  test(`84: bodies stay pure under ${flushDiskType}`, () =>
    withTempDirectory(async (folder) => {
      const random = new SimRandom(84);
      const { address, controller } = await startBroker(folder, {}, {
        flushDiskType,
      });
      const client = await RawClient.open(address);
      await client.invoke(34, {}, HEARTBEAT);
      const answers = await Promise.all(
        Array.from(
          { length: CONNECTIONS },
          (_, connection) =>
            talk(address, framesOf(connection, random), random),
        ),
      );
      for (const code of answers.flat()) {
        assert([0, 17, 19, 20].includes(code), `code ${code}`);
      }
      const seen = new Map<number, number[]>();
      for (let topic = 0; topic < 8; topic++) {
        for (let queueId = 0; queueId < QUEUES; queueId++) {
          for (let offset = 0;;) {
            const it = await client.pull("g", `T${topic}`, queueId, offset);
            if (it.code !== 0) break;
            offset = Number(it.extFields.nextBeginOffset);
            for (let position = 0; position < it.body.length;) {
              const record = decodeMessageRecord(it.body, position);
              position += record.storeSize;
              const [index, owner] = record.body;
              assert(record.body.subarray(1).every((byte) => byte === owner));
              const indexes = seen.get(owner! - 1) ?? [];
              indexes.push(index!);
              seen.set(owner! - 1, indexes);
            }
          }
        }
      }
      assertEquals(seen.size, CONNECTIONS);
      for (const indexes of seen.values()) {
        assertEquals(
          indexes.sort((a, b) => a - b),
          Array.from({ length: SENDS }, (_, index) => index),
        );
      }
      client.close();
      await controller.stop();
    }));
}
