import { assert, assertEquals, assertThrows } from "@std/assert";
import { test } from "node:test";
import { parseCredentials } from "../../src/auth/credentials_file.ts";
import { parsePlainAcl } from "../../src/auth/plain_acl.ts";
import { AclFileError } from "../../src/auth/yaml_file.ts";

/** In the shape of the file that Apache ships, with what its own tool writes behind it. */
const FILE = `
globalWhiteRemoteAddresses:
  - 10.10.103.*
  - 192.168.0.*

accounts:
  - accessKey: RocketMQ
    secretKey: 0123456
    whiteRemoteAddress:
    admin: false
    defaultTopicPerm: DENY
    defaultGroupPerm: SUB
    topicPerms:
      - topicA=DENY
      - topicB=PUB|SUB
      - "topicC = SUB"
    groupPerms:
      # the group should convert to retry topic
      - groupB=SUB|PUB

  - accessKey: rocketmq2
    secretKey: "12345678"
    whiteRemoteAddress: 192.168.1.*
    admin: True
dataVersion:
- counter: 1
  timestamp: 1700000000000
`;

test("parsePlainAcl() reads Apache's file", () => {
  const acl = parsePlainAcl(FILE);
  assertEquals(acl.globalWhiteRemoteAddresses.length, 2);
  assertEquals([...acl.accounts.keys()], ["RocketMQ", "rocketmq2"]);
  const first = acl.accounts.get("RocketMQ")!;
  // A number to YAML, and to its owner the text that clients are given.
  assertEquals(first.secretKey, "0123456");
  assertEquals(first.whiteRemoteAddress, null);
  assertEquals(first.admin, false);
  assertEquals([first.defaultTopicPerm, first.defaultGroupPerm], [
    "DENY",
    "SUB",
  ]);
  assertEquals([...first.topicPerms], [
    ["topicA", "DENY"],
    ["topicB", "PUB|SUB"],
    ["topicC", "SUB"],
  ]);
  assertEquals([...first.groupPerms], [["groupB", "PUB|SUB"]]);
  const second = acl.accounts.get("rocketmq2")!;
  assertEquals([second.secretKey, second.admin], ["12345678", true]);
  assertEquals(
    second.whiteRemoteAddress!(new Uint8Array([192, 168, 1, 9])),
    true,
  );
  assertEquals([second.defaultTopicPerm, second.topicPerms.size], ["DENY", 0]);
});

const SECRET = "very-secret-text";
const ACCOUNT =
  `accounts:\n  - accessKey: RocketMQ\n    secretKey: ${SECRET}\n`;

/** A file, and what the fault says. */
const FAULTS: [string, string, string][] = [
  ["empty", " \n", "it is empty"],
  ["no object", "- a", "give the keys globalWhiteRemoteAddresses, accounts"],
  ["an unknown key", "acounts: []", "there is no key acounts"],
  ["accounts as a text", "accounts: x", "accounts: give a list"],
  ["an account as a text", "accounts:\n  - x", "accounts 1: give the keys"],
  [
    "a short key",
    "accounts:\n  - accessKey: short\n    secretKey: 12345678",
    "accounts 1 accessKey: give at least 7 characters",
  ],
  [
    "no secret",
    "accounts:\n  - accessKey: RocketMQ",
    "accounts 1 secretKey: give at least 7",
  ],
  [
    "an unknown key of an account",
    `${ACCOUNT}    Admin: true`,
    "accounts 1: there is no key Admin",
  ],
  [
    "no boolean",
    `${ACCOUNT}    admin: maybe`,
    "accounts 1 admin: give true or false",
  ],
  [
    "no permission",
    `${ACCOUNT}    defaultTopicPerm: pub`,
    "accounts 1 defaultTopicPerm: give DENY, PUB",
  ],
  [
    "no named permission",
    `${ACCOUNT}    topicPerms:\n      - a=SUB\n      - a:SUB`,
    "accounts 1 topicPerms 2: give name=permission",
  ],
  [
    "a name twice",
    `${ACCOUNT}    groupPerms: [a=SUB, a=DENY]`,
    "accounts 1 groupPerms 2: the name stands there twice",
  ],
  [
    "no address",
    `${ACCOUNT}    whiteRemoteAddress: localhost`,
    "accounts 1 whiteRemoteAddress: give an address",
  ],
  [
    "no global address",
    "globalWhiteRemoteAddresses: [10.0.0.300]",
    "globalWhiteRemoteAddresses 1: give an address",
  ],
  [
    "an account twice",
    `${ACCOUNT}  - accessKey: RocketMQ\n    secretKey: 12345678`,
    "accounts 2: its accessKey is another account's",
  ],
  [
    "a key twice",
    `${ACCOUNT}    secretKey: ${SECRET}`,
    "line 4, column 5 is no plain YAML",
  ],
  ["a tab", `${ACCOUNT}\tadmin: true`, "is no plain YAML"],
  ["a tag", "accounts: !!js/function 'x'", "is no plain YAML"],
  [
    "a Java tag",
    "accounts: !!javax.script.ScriptEngineManager [x]",
    "is no plain YAML",
  ],
  ["two documents", `${ACCOUNT}---\n${ACCOUNT}`, "is no plain YAML"],
  ["a reference", `a: &a [x]\naccounts: [*a, *a]`, "refers to other places"],
  ["an open quote", `${ACCOUNT}    admin: "${SECRET}`, "is no plain YAML"],
];

for (const [name, text, part] of FAULTS) {
  test(`parsePlainAcl() refuses ${name} with one sentence that shows no secret`, () => {
    const { message } = assertThrows(() => parsePlainAcl(text), AclFileError);
    assert(message.includes(part), message);
    assert(!message.includes(SECRET) && !message.includes("\n"), message);
  });
}

test("parsePlainAcl() refuses references that would grow without bound", () => {
  const levels = ["a", "b", "c", "d", "e", "f", "g", "h"];
  const bomb = levels.map((it, index) =>
    `${it}: &${it} [${
      Array(10).fill(index === 0 ? "x" : `*${levels[index - 1]}`)
    }]`
  ).join("\n");
  assertThrows(() => parsePlainAcl(bomb), AclFileError);
});

test("parsePlainAcl() takes deep nesting and long lines for faults, not for more", () => {
  for (
    const text of ["[".repeat(5_000), `accounts: ${"x".repeat(2_000_000)}`]
  ) {
    assertThrows(() => parsePlainAcl(text), AclFileError);
  }
});

test("parseCredentials() reads Apache's tools.yml", () => {
  const read = parseCredentials("accessKey: rocketmq2\nsecretKey: 12345678\n");
  assertEquals(read, { accessKey: "rocketmq2", secretKey: "12345678" });
  for (const text of ["", "accessKey: a", "accessKey: a\nsecretKey: ''"]) {
    assertThrows(() => parseCredentials(text), AclFileError);
  }
});
