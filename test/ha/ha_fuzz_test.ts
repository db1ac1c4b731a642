/**
 * Hostile ends of a link, by seed: a slave that reports anything, and a master that sends anything,
 * in any pieces. Nothing throws, nothing is believed, and nothing lands where it does not belong.
 */
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { HAClient } from "../../src/ha/ha_client.ts";
import { HAConnection } from "../../src/ha/ha_connection.ts";
import { SimRandom } from "../sim/sim_random.ts";
import { boundsOf, OPTIONS, startOf } from "./ha_fixture.ts";

const SEEDS = 1_500;
const MIB = 1_048_576;

/** Values that trip decoders, and some that do not. */
function anyOffset(random: SimRandom, end: number): bigint {
  const near = BigInt(end) + BigInt(random.nextInt(5) - 2);
  return random.pick([
    near,
    BigInt(random.nextInt(2 * end + 1)),
    0n,
    1n,
    -1n,
    2n ** 31n,
    2n ** 53n,
    2n ** 63n - 1n,
    -(2n ** 63n),
  ]);
}

function anySize(random: SimRandom): number {
  return random.pick([
    0,
    0,
    random.nextInt(300),
    random.nextInt(4 * MIB),
    -1,
    MIB + 1,
    2 ** 31 - 1,
    -(2 ** 31),
  ]);
}

/** `bytes` in pieces of any size. */
function* pieces(random: SimRandom, bytes: Uint8Array): Iterable<Uint8Array> {
  for (let from = 0; from < bytes.length;) {
    const to = from + 1 + random.nextInt(random.pick([3, 40, 5_000]));
    yield bytes.subarray(from, to);
    from = to;
  }
}

function noise(random: SimRandom, size: number): Uint8Array {
  return Uint8Array.from({ length: size }, () => random.nextInt(256));
}

/** Frames of a master; most offsets are right, so that bodies come too. */
function hostileStream(random: SimRandom, end: number): Uint8Array {
  const parts: number[] = [];
  let at = end;
  for (let count = 1 + random.nextInt(6); count > 0; count--) {
    const frame = new Uint8Array(12);
    const view = new DataView(frame.buffer);
    const isRight = random.nextInt(3) > 0;
    view.setBigInt64(0, isRight ? BigInt(at) : anyOffset(random, end));
    const size = anySize(random);
    view.setInt32(8, size);
    const body = Math.min(Math.max(size, 0), random.nextInt(600));
    parts.push(...frame, ...noise(random, body));
    at += body;
  }
  return Uint8Array.from(parts);
}

test(`HAClient takes no byte of a hostile master elsewhere than at its end (${SEEDS} seeds)`, () => {
  let appended = 0;
  let closed = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = new SimRandom(seed);
    const start = random.pick([0, 5_000, MIB - 100]);
    const client = new HAClient(OPTIONS, startOf(start), 0);
    client.tick(0);
    let end = start;
    let nowMs = 0;
    let isClosed = false;
    const stream = random.oneIn(10)
      ? noise(random, 200)
      : hostileStream(random, start);
    for (const piece of pieces(random, stream)) {
      const effects = client.onBytes(piece, ++nowMs);
      let bytes = 0;
      for (const effect of effects) {
        if (effect.kind === "append") {
          const isFirst = end === 0 && start === 0;
          // An empty log begins where the first header says, at a file's boundary.
          if (isFirst) assertEquals(effect.phyOffset % MIB, 0, `seed ${seed}`);
          else assertEquals(effect.phyOffset, end, `seed ${seed}`);
          end = effect.phyOffset + effect.body.length;
          bytes += effect.body.length;
        }
        if (effect.kind === "close") isClosed = true;
      }
      // What is announced is not what came.
      assert(bytes <= piece.length + 12, `seed ${seed}`);
      appended += bytes;
      if (bytes > 0 && !isClosed) client.onAppended(end, 0, nowMs);
      if (isClosed) break;
    }
    if (!isClosed) continue;
    closed++;
    const after = client.onBytes(hostileStream(random, end), ++nowMs);
    assertEquals(after.filter((it) => it.kind === "append"), []);
  }
  assert(appended > SEEDS && closed > SEEDS / 4, `${appended}, ${closed}`);
});

test(`HAConnection believes no hostile slave (${SEEDS} seeds)`, () => {
  let acked = 0;
  let closed = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = new SimRandom(seed);
    const end = random.pick([0, 5_000, 3 * MIB]);
    const bounds = boundsOf(end);
    const connection = new HAConnection(OPTIONS, 0);
    let sentTo = 0;
    let nowMs = 0;
    let isClosed = false;
    const reports = new Uint8Array(8 * (1 + random.nextInt(20)));
    const view = new DataView(reports.buffer);
    for (let at = 0; at < reports.length; at += 8) {
      view.setBigInt64(at, anyOffset(random, random.pick([end, sentTo])));
    }
    const stream = random.oneIn(10) ? noise(random, 64) : reports;
    const judge = (effects: ReturnType<HAConnection["onBytes"]>) => {
      for (const effect of effects) {
        if (effect.kind === "transfer") {
          assert(!isClosed, `seed ${seed}`);
          assert(effect.phyOffset + effect.size <= end, `seed ${seed}`);
          assert(effect.size <= MIB, `seed ${seed}`);
          sentTo = effect.phyOffset + effect.size;
        }
        if (effect.kind === "acked") {
          assert(effect.slaveAckOffset <= end, `seed ${seed}`);
          acked++;
        }
        if (effect.kind === "close") isClosed = true;
      }
    };
    for (const piece of pieces(random, stream)) {
      judge(connection.onBytes(piece, bounds, ++nowMs));
      judge(connection.tick(bounds, nowMs += random.nextInt(100)));
      if (isClosed) break;
    }
    if (!isClosed) continue;
    closed++;
    assertEquals(connection.isSlave, false, `seed ${seed}`);
    judge(connection.onBytes(reports, bounds, ++nowMs));
  }
  assert(acked > 0 && closed > SEEDS / 4, `${acked}, ${closed}`);
});
