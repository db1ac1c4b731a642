/** Who may what: requests at the guard of a processor table. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { test } from "node:test";
import { AccessControl } from "../../src/auth/access_control.ts";
import { replaceTextFile } from "../../src/cli/files.ts";
import { AclFileError } from "../../src/auth/yaml_file.ts";
import {
  createRequest,
  createResponse,
  type ExtFields,
  type RemotingCommand,
} from "../../src/protocol/remoting_command.ts";
import { signRequest } from "../../src/protocol/request_signature.ts";
import type { RequestProcessor } from "../../src/remoting/request_processor.ts";
import { HEARTBEAT, runtime } from "../broker/broker_site.ts";
import {
  FakeClock,
  fakeConnection,
  fakeContext,
  FakeLogger,
} from "../broker/fakes.ts";
import { writeFileSync } from "node:fs";
import { withTempDirectory } from "../support/temp_directory.ts";

const SECRET = "client-secret";
const FILE = `
globalWhiteRemoteAddresses: [10.9.9.*]
accounts:
  - accessKey: client-key
    secretKey: ${SECRET}
    defaultTopicPerm: DENY
    defaultGroupPerm: SUB
    topicPerms: [T=PUB|SUB, Out=PUB, In=SUB, Never=DENY]
    groupPerms: [closed=DENY]
  - accessKey: admin-key
    secretKey: admin-secret
    admin: true
  - accessKey: home-key
    secretKey: home-secret
    whiteRemoteAddress: 10.1.1.1
`;

const CODES = [10, 310, 320, 36, 11, 361, 12, 34, 35, 38, 15, 17, 18, 25, 200]
  .concat([225, 207, 215, 353, 26, 33, 31_002]);

/** A guard before processors that answer 0, over a file of its own. */
class Rig {
  readonly clock = new FakeClock();
  readonly logger = new FakeLogger();
  readonly control: AccessControl;
  readonly #table = new Map<number, RequestProcessor>();

  constructor(readonly path: string, text = FILE) {
    writeFileSync(path, text);
    this.control = new AccessControl(
      {
        ...runtime,
        clock: this.clock,
        logger: this.logger,
        replace: (file, text) =>
          replaceTextFile(runtime.fileSystem, file, text),
      },
      path,
    );
    for (const code of CODES) this.#table.set(code, () => createResponse(0));
    this.control.wrap(this.#table, {
      clusterName: "DefaultCluster",
      brokerName: "broker-a",
      brokerAddr: "127.0.0.1:10911",
      isSlave: () => false,
    });
  }

  /** Code and remark of the answer. */
  answer(request: RemotingCommand, from = "10.0.0.7:4711") {
    const context = fakeContext(fakeConnection(from));
    const answer = this.#table.get(request.code)!(
      context,
      request,
    ) as RemotingCommand;
    return { code: answer.code, remark: answer.remark ?? "" };
  }

  /** What a client gets to a signed request. */
  signed(
    code: number,
    fields: ExtFields,
    accessKey = "client-key",
    secretKey = SECRET,
    body?: Uint8Array,
  ) {
    const request = createRequest(code, { ...fields }, body);
    signRequest(request, { accessKey, secretKey });
    return this.answer(request);
  }
}

function withRig(run: (rig: Rig) => void): Promise<void> {
  return withTempDirectory((folder) => {
    run(new Rig(`${folder}/plain_acl.yml`));
    return Promise.resolve();
  });
}

/** Code, fields, and the start of the remark; empty: it passes. */
const REQUESTS: [number, ExtFields, string][] = [
  [10, { topic: "T" }, ""],
  [10, { topic: "Other" }, "No default permission for topic:Other"],
  [310, { b: "Out" }, ""],
  [310, { b: "In" }, "No permission for topic:In"],
  [310, { b: "Never" }, "No permission for topic:Never"],
  // A batch is a send: Apache 4.9 lets everybody pass.
  [320, { b: "In" }, "No permission for topic:In"],
  [320, { b: "Out" }, ""],
  // What counts is the field that the processor reads.
  [320, { topic: "T", b: "Never" }, "No permission for topic:Never"],
  [10, { topic: "Never", b: "T" }, "No permission for topic:Never"],
  [310, { b: "RMQ_SYS_TRACE_TOPIC" }, ""],
  [310, { a: "g", b: "%RETRY%g" }, ""],
  [310, { a: "g", b: "%RETRY%closed" }, "No permission for group:closed"],
  [36, { group: "g" }, ""],
  [36, { group: "closed" }, "No permission for group:closed"],
  [11, { topic: "In", consumerGroup: "g" }, ""],
  [11, { topic: "Out", consumerGroup: "g" }, "No permission for topic:Out"],
  [11, { topic: "T", consumerGroup: "closed" }, "No permission for group:clos"],
  [361, { topic: "Out", consumerGroup: "g" }, "No permission for topic:Out"],
  [11, { topic: "%RETRY%g", consumerGroup: "g" }, ""],
  [11, { topic: "%RETRY%closed", consumerGroup: "g" }, "No permission for gro"],
  [12, { topic: "Other" }, "No default permission for topic:Other"],
  [35, { clientID: "c", producerGroup: "p" }, ""],
  [35, { consumerGroup: "closed" }, "No permission for group:closed"],
  [38, { consumerGroup: "closed" }, "No permission for group:closed"],
  [15, { topic: "T", consumerGroup: "g" }, ""],
  [15, { topic: "Out", consumerGroup: "g" }, "No permission for topic:Out"],
  [17, { topic: "T" }, "Need admin permission for request code=17"],
  [18, {}, "Need admin permission for request code=18"],
  [25, {}, "Need admin permission for request code=25"],
  [200, {}, "Need admin permission for request code=200"],
  [225, {}, "Need admin permission for request code=225"],
  [207, {}, "Need admin permission for request code=207"],
  [215, {}, "Need admin permission for request code=215"],
  [353, {}, "Need admin permission for request code=353"],
  [26, {}, ""],
  [31_002, {}, ""],
];

test("an account may what the file says, by topic and by group", async () => {
  await withRig((rig) => {
    for (const [code, fields, start] of REQUESTS) {
      const { code: answered, remark } = rig.signed(code, fields);
      const what = `${code} ${JSON.stringify(fields)}: ${remark}`;
      assertEquals(answered, start === "" ? 0 : 16, what);
      assert(remark.startsWith(start), what);
    }
  });
});

test("an administrator may everything", async () => {
  await withRig((rig) => {
    for (const [code, fields] of REQUESTS) {
      if (code === 34) continue;
      const answer = rig.signed(code, fields, "admin-key", "admin-secret");
      assertEquals(answer, { code: 0, remark: "" });
    }
  });
});

test("a heartbeat needs its groups and their topics", async () => {
  await withRig((rig) => {
    const beat = (body: Uint8Array) =>
      rig.signed(34, {}, "client-key", SECRET, body);
    assertEquals(beat(HEARTBEAT).code, 0);
    const text = new TextDecoder().decode(HEARTBEAT);
    const other = (from: string, to: string) =>
      beat(new TextEncoder().encode(text.replace(from, to)));
    assertEquals(other('"T"', '"Other"').code, 16);
    assertEquals(other('"g"', '"closed"').code, 16);
    assertThrows(() => beat(new TextEncoder().encode("{")));
  });
});

test("without a known account and its signature nobody passes, whatever the code", async () => {
  await withRig((rig) => {
    for (const code of CODES) {
      const fields = { topic: "T", b: "T", consumerGroup: "g" };
      const none = rig.answer(createRequest(code, fields));
      assert(none.remark.startsWith("No accessKey is configured"), none.remark);
      const unknown = rig.signed(code, fields, "stranger", SECRET);
      assert(unknown.remark.startsWith("No acl config for stranger"));
      const wrong = rig.signed(code, fields, "client-key", "another-secret");
      assert(wrong.remark.startsWith("Check signature failed for accessKey="));
      const missing = rig.answer(
        createRequest(code, { ...fields, AccessKey: "admin-key" }),
      );
      assert(missing.remark.startsWith("Check signature failed"));
      const codes = [none, unknown, wrong, missing].map((it) => it.code);
      assertEquals(codes, [16, 16, 16, 16]);
    }
    // A signature holds for its own request only.
    const request = createRequest(310, { b: "Out" }, new Uint8Array([1]));
    signRequest(request, { accessKey: "client-key", secretKey: SECRET });
    request.body = new Uint8Array([2]);
    assertEquals(rig.answer(request).code, 16);
  });
});

test("white lists open for an address: for everything, or for one account", async () => {
  await withRig((rig) => {
    const plain = createRequest(25);
    assertEquals(rig.answer(plain, "10.9.9.1:5").code, 0);
    assertEquals(rig.answer(plain, "10.9.8.1:5").code, 16);
    const home = createRequest(310, { b: "Never", AccessKey: "home-key" });
    assertEquals(rig.answer(home, "10.1.1.1:5").code, 0);
    assertEquals(rig.answer(home, "10.1.1.2:5").code, 16);
    assertEquals(rig.answer(home, "[::ffff:10.1.1.1]:5").code, 0);
  });
});

test("no answer and no line shows a secret, or what a stranger wrote as it is", async () => {
  await withRig((rig) => {
    const long = rig.signed(310, { b: "T" }, `x\n${"y".repeat(5_000)}`, SECRET);
    assert(long.remark.length < 200 && !long.remark.includes("\n"));
    rig.signed(310, { b: "Never" });
    rig.signed(11, { topic: "T" }, "client-key", "another-secret");
    assertEquals(rig.logger.lines.length, 2);
    const told = rig.logger.lines.join("\n");
    for (const secret of [SECRET, "another-secret", "admin-secret"]) {
      assert(!told.includes(secret), told);
    }
  });
});

test("a changed file holds within a second; one that is wrong is told once and changes nothing", async () => {
  await withRig((rig) => {
    const write = (text: string) => writeFileSync(rig.path, text);
    const look = () => {
      rig.clock.advance(1_000);
      rig.control.tick();
    };
    const may = () => rig.signed(310, { b: "Other" }).code === 0;
    look();
    assertEquals([may(), rig.logger.lines.length], [false, 1]);
    write(FILE.replace("Never=DENY", "Other=PUB"));
    look();
    assertEquals([may(), rig.logger.lines.length], [true, 2]);
    for (const wrong of ["", "accounts: x", `${FILE}\n  - accessKey: x`]) {
      write(wrong);
      look();
      look();
      assertEquals(may(), true);
    }
    const errors = rig.logger.lines.filter((it) => it.startsWith("error"));
    assertEquals(errors.length, 3, errors.join("\n"));
    assert(errors.every((it) => it.includes(rig.path)), errors.join("\n"));
    write(FILE);
    // SIGHUP does not wait.
    rig.control.reload();
    assertEquals(may(), false);
  });
});

test("a file that is missing at the start is an error that names it; later it changes nothing", async () => {
  await withTempDirectory(async (folder) => {
    const path = `${folder}/plain_acl.yml`;
    const ports = {
      ...runtime,
      clock: new FakeClock(),
      logger: new FakeLogger(),
      replace: () => Promise.reject(new Error("not here")),
    };
    const { message } = assertThrows(
      () => new AccessControl(ports, path),
      AclFileError,
    );
    assert(message.includes(path) && message.includes("no such file"), message);
    const rig = new Rig(path);
    await runtime.fileSystem.remove(path);
    rig.clock.advance(1_000);
    rig.control.tick();
    assertEquals(rig.signed(310, { b: "T" }).code, 0);
    assert(rig.logger.lines.at(-1)!.includes("no such file"));
  });
});
