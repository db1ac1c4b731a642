/** Accounts of 4.9 changed over the wire (50 to 54), in several files. */
import { assert, assertEquals } from "@std/assert";
import {
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { test } from "node:test";
import { AccessControl } from "../../../src/auth/access_control.ts";
import { parsePlainAcl } from "../../../src/auth/plain_acl.ts";
import { replaceTextFile } from "../../../src/cli/files.ts";
import {
  createRequest,
  createResponse,
  type ExtFields,
  type RemotingCommand,
} from "../../../src/protocol/remoting_command.ts";
import { signRequest } from "../../../src/protocol/request_signature.ts";
import type { RequestProcessor } from "../../../src/remoting/request_processor.ts";
import { runtime } from "../../broker/broker_site.ts";
import {
  FakeClock,
  fakeConnection,
  fakeContext,
  FakeLogger,
} from "../../broker/fakes.ts";
import { withTempDirectory } from "../../support/temp_directory.ts";

const FILE = `# who may come in
accounts:
  - accessKey: admin-key # the operator
    secretKey: admin-secret
    admin: true
  - accessKey: client-key
    secretKey: "0123456"
    topicPerms: [T=PUB]
`;
const TEAM = `
globalWhiteRemoteAddresses: [10.9.9.9]
accounts:
  - accessKey: team-key
    secretKey: team-secret
    groupPerms:
      - g=SUB
`;

class Rig {
  readonly clock = new FakeClock();
  readonly logger = new FakeLogger();
  readonly path: string;
  readonly control: AccessControl;
  readonly #table = new Map<number, RequestProcessor>();

  constructor(folder: string) {
    this.path = `${folder}/plain_acl.yml`;
    writeFileSync(this.path, FILE);
    mkdirSync(`${folder}/acl/deeper`, { recursive: true });
    writeFileSync(`${folder}/acl/deeper/team.yaml`, TEAM);
    writeFileSync(`${folder}/acl/tools.yml`, "accessKey: a\nsecretKey: b\n");
    const { fileSystem } = runtime;
    this.control = new AccessControl({
      ...runtime,
      clock: this.clock,
      logger: this.logger,
      replace: (path, text) =>
        replaceTextFile(fileSystem, path, text, "create-private"),
    }, this.path);
    this.#table.set(310, () => createResponse(0));
    this.#table.set(36, () => createResponse(0));
    this.control.wrap(this.#table, {
      clusterName: "DefaultCluster",
      brokerName: "broker-a",
      brokerAddr: "127.0.0.1:10911",
      isSlave: () => false,
    });
  }

  async ask(
    code: number,
    fields: ExtFields = {},
    [accessKey, secretKey] = ["admin-key", "admin-secret"],
    from = "10.0.0.7:4711",
  ): Promise<RemotingCommand> {
    const request = createRequest(code, { ...fields });
    signRequest(request, { accessKey, secretKey });
    return await this.#table.get(code)!(
      fakeContext(fakeConnection(from)),
      request,
    ) as RemotingCommand;
  }

  /** Code 0 for a send of that account. */
  async send(topic: string, account: [string, string]): Promise<number> {
    return (await this.ask(310, { b: topic }, account)).code;
  }

  async config() {
    const { body } = await this.ask(54);
    return JSON.parse(new TextDecoder().decode(body)) as {
      globalWhiteAddrs: string[];
      plainAccessConfigs: Record<string, unknown>[];
    };
  }

  look(): void {
    this.clock.advance(1_000);
    this.control.tick();
  }
}

function withRig(run: (rig: Rig, folder: string) => Promise<void>) {
  return withTempDirectory((folder) => run(new Rig(folder), folder));
}

const APP: [string, string] = ["app-key", "0012345"];

test("an account that is made, changed and deleted holds at once, in a file that Apache and we can read", async () => {
  await withRig(async (rig) => {
    const fields = {
      accessKey: APP[0],
      secretKey: APP[1],
      topicPerms: "T=PUB",
    };
    assertEquals((await rig.ask(50, fields)).code, 0);
    assertEquals(await rig.send("T", APP), 0);
    assertEquals(await rig.send("U", APP), 16);
    const more = {
      ...fields,
      topicPerms: "U=PUB|SUB",
      defaultGroupPerm: "SUB",
    };
    assertEquals((await rig.ask(50, more)).code, 0);
    assertEquals(await rig.send("U", APP), 0);
    assertEquals(await rig.send("T", APP), 16);
    const text = readFileSync(rig.path, "utf8");
    assert(
      text.includes("# who may come in") && text.includes("# the operator"),
    );
    assert(text.includes('secretKey: "0012345"'), text);
    assert(text.includes("admin: false") && text.includes("counter: 2"), text);
    assertEquals(parsePlainAcl(text).accounts.size, 3);
    // Secrets stay their owner's: others of this machine see nothing.
    assertEquals(statSync(rig.path).mode & 0o077, 0);
    // What this broker has written itself is not read again.
    const lines = rig.logger.lines.length;
    for (let count = 0; count < 3; count++) rig.look();
    assertEquals(rig.logger.lines.length, lines, rig.logger.lines.join("\n"));
    assertEquals((await rig.ask(51, { accessKey: APP[0] })).code, 0);
    assertEquals(await rig.send("U", APP), 16);
  });
});

test("an account in a file of the folder is changed there", async () => {
  await withRig(async (rig, folder) => {
    const team: [string, string] = ["team-key", "team-secret"];
    assertEquals((await rig.ask(36, { group: "g" }, team)).code, 0);
    const change = {
      accessKey: team[0],
      secretKey: team[1],
      groupPerms: "g=DENY,h=SUB",
    };
    assertEquals((await rig.ask(50, change)).code, 0);
    assertEquals((await rig.ask(36, { group: "g" }, team)).code, 16);
    assertEquals((await rig.ask(36, { group: "h" }, team)).code, 0);
    const path = `${folder}/acl/deeper/team.yaml`;
    assert(readFileSync(path, "utf8").includes("h=SUB"));
    assertEquals(readFileSync(rig.path, "utf8"), FILE);
    const { extFields } = await rig.ask(52);
    const versions = JSON.parse(extFields["allAclFileVersion"]!);
    assertEquals(Object.keys(versions).sort(), [path, rig.path].sort());
    assertEquals(versions[path].counter, 1);
    const { brokerAddr, brokerName, clusterName } = extFields;
    assertEquals([clusterName, brokerName, brokerAddr], [
      "DefaultCluster",
      "broker-a",
      "127.0.0.1:10911",
    ]);
    // A file that comes or goes counts within a second.
    writeFileSync(
      `${folder}/acl/new.yml`,
      "accounts: [{accessKey: team-key, secretKey: another-secret}, {accessKey: new-key, secretKey: new-secret, defaultTopicPerm: PUB}]",
    );
    rig.look();
    assertEquals(await rig.send("T", ["new-key", "new-secret"]), 0);
    assert(rig.logger.lines.join("\n").includes("stands in another file too"));
    rmSync(`${folder}/acl/new.yml`);
    rig.look();
    assertEquals(await rig.send("T", ["new-key", "new-secret"]), 16);
  });
});

test("the configuration is shown without secrets, and can be sent back", async () => {
  await withRig(async (rig) => {
    const { globalWhiteAddrs, plainAccessConfigs } = await rig.config();
    assertEquals(globalWhiteAddrs, ["10.9.9.9"]);
    assertEquals(plainAccessConfigs, [
      {
        accessKey: "team-key",
        secretKey: "***",
        admin: false,
        groupPerms: ["g=SUB"],
      },
      { accessKey: "admin-key", secretKey: "***", admin: true },
      {
        accessKey: "client-key",
        secretKey: "***",
        admin: false,
        topicPerms: ["T=PUB"],
      },
    ]);
    const back = {
      accessKey: "client-key",
      secretKey: "***",
      topicPerms: "T=PUB,U=PUB",
    };
    assertEquals((await rig.ask(50, back)).code, 0);
    assertEquals(await rig.send("U", ["client-key", "0123456"]), 0);
    const text = JSON.stringify(await rig.config()) + rig.logger.lines.join();
    for (const secret of ["admin-secret", "0123456", "team-secret"]) {
      assert(!text.includes(secret), text);
    }
  });
});

test("white addresses are replaced in the file that is named, and in no other file of the disk", async () => {
  await withRig(async (rig, folder) => {
    const put = async (fields: ExtFields) => (await rig.ask(53, fields)).code;
    const open = async (from: string) =>
      (await rig.ask(310, { b: "Z" }, ["nobody-key", "x"], from)).code;
    const globalWhiteAddrs = "10.1.*.*, 10.2.3.4";
    assertEquals(await put({ globalWhiteAddrs }), 0);
    const opened = [await open("10.1.2.3:4"), await open("10.9.9.9:4")];
    assertEquals(opened, [0, 0]);
    const aclFileFullPath = `${folder}/acl/deeper/team.yaml`;
    assertEquals(
      await put({ globalWhiteAddrs: "10.7.7.7", aclFileFullPath }),
      0,
    );
    assertEquals([await open("10.7.7.7:4"), await open("10.9.9.9:4")], [0, 16]);
    writeFileSync(`${folder}/other.yml`, "x: 1\n");
    for (
      const path of [`${folder}/other.yml`, `${folder}/none.yml`, "/etc/x"]
    ) {
      const { code, remark } = await rig.ask(53, {
        globalWhiteAddrs: "10.0.0.1",
        aclFileFullPath: path,
      });
      assertEquals(code, 211);
      assert(remark!.includes("is none of the access control files"), remark!);
    }
    assertEquals(readFileSync(`${folder}/other.yml`, "utf8"), "x: 1\n");
  });
});

/** Code, fields; answer's code and a part of its remark. */
const REFUSALS: [number, ExtFields, number, string][] = [
  [50, {}, 209, "The accessKey= and secretKey=*** cannot be null"],
  [50, { accessKey: "short", secretKey: "long-enough" }, 209, "longer than 6"],
  [50, { accessKey: "new-key-1", secretKey: "short" }, 209, "longer than 6"],
  [50, { accessKey: "new-key-1", secretKey: "***" }, 209, "longer than 6"],
  [
    50,
    { ...valid(), topicPerms: "T" },
    209,
    "Parse Resource format error for T.",
  ],
  [
    50,
    { ...valid(), topicPerms: "T=EAT" },
    209,
    "Parse resource permission error",
  ],
  [50, { ...valid(), defaultTopicPerm: "EAT" }, 209, "give DENY, PUB"],
  [50, { ...valid(), whiteRemoteAddress: "x" }, 209, "give an address"],
  [51, { accessKey: "nobody-key" }, 210, "The accesskey[nobody-key]"],
  [51, {}, 210, "The accesskey[]"],
  [53, {}, 211, "The globalWhiteAddresses[]"],
  [53, { globalWhiteAddrs: "nonsense" }, 211, "give an address"],
];

function valid(): ExtFields {
  return { accessKey: "new-key-1", secretKey: "secret-of-it" };
}

test("what cannot be is refused by 4.9's codes, and changes nothing", async () => {
  await withRig(async (rig, folder) => {
    for (const [code, fields, answer, part] of REFUSALS) {
      const { code: answered, remark } = await rig.ask(code, fields);
      const what = `${code} ${JSON.stringify(fields)}: ${remark}`;
      assertEquals(answered, answer, what);
      assert(remark!.includes(part), what);
      assert(!remark!.includes("secret-of-it"), what);
    }
    assertEquals(readFileSync(rig.path, "utf8"), FILE);
    const client: [string, string] = ["client-key", "0123456"];
    for (const code of [50, 51, 53, 54]) {
      const { remark } = await rig.ask(code, valid(), client);
      assert(remark!.startsWith("Need admin permission"), remark!);
    }
    assertEquals((await rig.ask(52, {}, client)).code, 0);
    // A disk that takes nothing: the account is not in force either.
    rmSync(folder, { recursive: true });
    assertEquals((await rig.ask(50, valid())).code, 209);
    assertEquals(await rig.send("T", ["new-key-1", "secret-of-it"]), 16);
  });
});

test("changes that come together, and an edit at the same moment, all hold", async () => {
  await withRig(async (rig) => {
    writeFileSync(
      rig.path,
      `${FILE}  - {accessKey: edited-key, secretKey: edited-secret, defaultTopicPerm: PUB}\n`,
    );
    const names = Array.from({ length: 10 }, (_, index) => `new-key-${index}`);
    const answers = await Promise.all(
      names.map((accessKey) =>
        rig.ask(50, {
          accessKey,
          secretKey: "one-secret",
          defaultTopicPerm: "PUB",
        })
      ),
    );
    assertEquals(answers.map((it) => it.code), names.map(() => 0));
    for (const name of names) {
      assertEquals(await rig.send("T", [name, "one-secret"]), 0);
    }
    assertEquals(await rig.send("T", ["edited-key", "edited-secret"]), 0);
    assert(readFileSync(rig.path, "utf8").includes("counter: 10"));
    // One that is half done is not written over.
    writeFileSync(rig.path, "accounts: [");
    const refused = await rig.ask(51, { accessKey: "new-key-1" });
    assertEquals(refused.code, 210);
    assert(refused.remark!.includes(rig.path), refused.remark!);
    assertEquals(readFileSync(rig.path, "utf8"), "accounts: [");
    assertEquals(await rig.send("T", ["new-key-1", "one-secret"]), 0);
  });
});
