import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { WaitMetadataChangeProcessor } from "../../src/broker/processor/wait_metadata_change_processor.ts";
import type { DataVersion } from "../../src/model/data_version.ts";
import {
  decodeMetadataVersions,
  encodeMetadataVersions,
  type MetadataVersions,
} from "../../src/protocol/body/metadata_versions.ts";
import { createRequest } from "../../src/protocol/remoting_command.ts";
import { HELD } from "../../src/remoting/request_processor.ts";
import { fakeConnection, fakeContext } from "./fakes.ts";

function version(counter: number): DataVersion {
  return { stateVersion: 0, timestamp: 1, counter };
}

function versions(counter: number): MetadataVersions {
  return {
    topics: version(1),
    subscriptionGroups: version(1),
    consumerOffsets: version(counter),
    delayOffsets: version(1),
    auth: version(1),
  };
}

function site() {
  const state = { versions: versions(1), nowMs: 0 };
  const slaves: string[] = [];
  const processor = new WaitMetadataChangeProcessor(
    () => state.versions,
    () => state.nowMs,
    (brokerAddr, { remoteAddress }) =>
      void slaves.push(`${brokerAddr} from ${remoteAddress}`),
  );
  const ask = (timeoutMs: number, counter = 1, context = fakeContext()) => {
    const answer = processor.process(
      context,
      createRequest(
        31_001,
        { timeoutMillis: String(timeoutMs) },
        encodeMetadataVersions(versions(counter)),
      ),
    );
    return { answer, context };
  };
  return { state, processor, ask, slaves };
}

test("31001 tells the master where its slave lives", () => {
  const { processor, ask, slaves } = site();
  ask(0);
  assertEquals(slaves, []);
  processor.process(
    fakeContext(),
    createRequest(
      31_001,
      { timeoutMillis: "0", brokerAddr: "10.0.0.6:10911" },
      encodeMetadataVersions(versions(1)),
    ),
  );
  assertEquals(slaves, ["10.0.0.6:10911 from 127.0.0.1:40001"]);
});

test("31001 answers at once what is new, or when it shall not wait", () => {
  const { ask } = site();
  for (const { answer } of [ask(0), ask(5_000, 7)]) {
    if (typeof answer === "symbol") throw new Error("held");
    assertEquals(decodeMetadataVersions(answer.body), versions(1));
  }
});

test("31001 waits for a change, and no longer than asked", () => {
  const { state, processor, ask } = site();
  const first = ask(5_000);
  const second = ask(1_000);
  assertEquals([first.answer, second.answer], [HELD, HELD]);
  state.nowMs = 1_000;
  processor.tick();
  assertEquals(first.context.answers.length, 0);
  assertEquals(second.context.answers.length, 1);
  state.versions = versions(2);
  processor.tick();
  assertEquals(
    decodeMetadataVersions(first.context.answers[0]!.body),
    versions(2),
  );
  assertEquals(processor.waitingCount, 0);
});

test("one wait per connection, 64 in all, none for a connection that is gone", () => {
  const { processor, ask } = site();
  const connection = fakeConnection();
  const old = ask(5_000, 1, fakeContext(connection));
  ask(5_000, 1, fakeContext(connection));
  assertEquals(old.context.answers.length, 1);
  assertEquals(processor.waitingCount, 1);
  processor.onConnectionClosed(connection);
  assertEquals(processor.waitingCount, 0);
  for (let count = 0; count < 64; count++) assertEquals(ask(9).answer, HELD);
  assert(ask(5_000).answer !== HELD);
  processor.wakeAll();
  assertEquals(processor.waitingCount, 0);
});
