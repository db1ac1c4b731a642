/** SIGTERM under full load: refuse, drain, persist, exit 0; the next start finds a clean store (scenario 155). */
import { assert, assertEquals } from "@std/assert";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { decodeMessageRecord } from "../../src/model/message_record.ts";
import { eventually } from "../support/eventually.ts";
import { RawClient } from "../support/raw_client.ts";
import { withTempDirectory } from "../support/temp_directory.ts";
import { run, startServer } from "./fake_process.ts";

const ROUNDS = 3;
const SENDERS = 4;
const IN_FLIGHT = 32;
const QUEUES = 4;

function start(folder: string, flush: string) {
  return startServer([
    "standalone",
    ...["--store", folder, "--listen-port", "0", "--namesrv-port", "0"],
    ...["--admin-port", "0", "--set", `flushDiskType=${flush}`],
    ...["--set", "mappedFileSizeCommitLog=8M"],
  ]);
}

/** Sends without a pause until it is refused or cut off; notes what was acknowledged. */
async function sendUntilTheEnd(
  address: string,
  name: string,
  acked: Set<string>,
): Promise<number[]> {
  const client = await RawClient.open(address);
  const refusals: number[] = [];
  let count = 0;
  let isOver = false;
  const loop = async () => {
    while (!isOver) {
      const text = `${name}-${count++}`;
      const body = new TextEncoder().encode(text);
      try {
        const sent = await client.send("T", count % QUEUES, body);
        if (sent.code === 0) acked.add(text);
        else {
          refusals.push(sent.code);
          isOver = true;
        }
      } catch {
        isOver = true;
      }
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, loop));
  client.close();
  return refusals;
}

async function bodies(address: string): Promise<string[]> {
  const client = await RawClient.open(address);
  const found: string[] = [];
  for (let queueId = 0; queueId < QUEUES; queueId++) {
    for (let offset = 0;;) {
      const { body, code, extFields } = await client.pull(
        "TOOLS_CONSUMER",
        "T",
        queueId,
        offset,
      );
      if (code !== 0) break;
      offset = Number(extFields.nextBeginOffset);
      for (let position = 0; position < body.length;) {
        const record = decodeMessageRecord(body, position);
        found.push(new TextDecoder().decode(record.body));
        position += record.storeSize;
      }
    }
  }
  client.close();
  return found;
}

for (const flush of ["ASYNC_FLUSH", "SYNC_FLUSH"]) {
  test(`155: SIGTERM under load ends with 0 and a clean store [${flush}]`, () =>
    withTempDirectory(async (folder) => {
      const acked = new Set<string>();
      for (let round = 0; round < ROUNDS; round++) {
        const server = await start(folder, flush);
        const before = acked.size;
        const senders = Array.from(
          { length: SENDERS },
          (_, it) =>
            sendUntilTheEnd(
              server.listeners.broker!,
              `r${round}s${it}`,
              acked,
            ),
        );
        await eventually(() => acked.size > before + 500);
        const startedMs = performance.now();
        assertEquals(await server.stop(), 0);
        assert(performance.now() - startedMs < 10_000, "longer than 10 s");
        for (const code of (await Promise.all(senders)).flat()) {
          assert([14, 1500].includes(code), `code ${code}`);
        }
        assert(!existsSync(`${folder}/abort`), "the stop was not clean");
      }
      const verified = await run(["store", "verify", folder]);
      assertEquals(verified.code, 0, verified.stdout + verified.stderr);
      const last = await start(folder, flush);
      const found = new Set(await bodies(last.listeners.broker!));
      for (const it of acked) assert(found.has(it), `${it} is lost`);
      assertEquals(await last.stop(), 0);
    }));
}
