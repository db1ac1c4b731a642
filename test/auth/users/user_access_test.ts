/** Who comes in under authenticationEnabled, and what policies let them do. */
import { assert, assertEquals } from "@std/assert";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import {
  createRequest,
  type ExtFields,
  type RemotingCommand,
} from "../../../src/protocol/remoting_command.ts";
import {
  decodeCommand,
  encodeCommand,
} from "../../../src/protocol/remoting_command_codec.ts";
import { signRequest } from "../../../src/protocol/request_signature.ts";
import { HEARTBEAT } from "../../broker/broker_site.ts";
import { withTempDirectory } from "../../support/temp_directory.ts";
import { entry, SUPER, UserSite } from "./user_site.ts";

function withUsers(
  run: (site: UserSite, folder: string) => Promise<void>,
  options: ConstructorParameters<typeof UserSite>[1] = {},
): Promise<void> {
  return withTempDirectory(async (folder) => {
    await run(await new UserSite(folder, options).open(), folder);
  });
}

const ALICE_ENTRIES = [
  entry("Topic:T", "Pub,Sub,Get"),
  entry("Topic:orders*", "Pub"),
  entry("Topic:orders-secret", "Pub", "Deny"),
  entry("Group:g*", "Sub"),
  entry("Topic:home", "All", "Allow", ["10.1.0.0/16"]),
];

/** Code, fields; empty: it passes. */
const REQUESTS: [number, ExtFields, string][] = [
  [310, { b: "T" }, ""],
  [310, { b: "U" }, "no permission to access Topic:U from 10.0.0.7, no match"],
  [310, { b: "orders-1" }, ""],
  [310, { b: "orders-secret" }, "Topic:orders-secret from 10.0.0.7, the decis"],
  [310, { b: "home" }, "Topic:home from 10.0.0.7, no matched"],
  [310, { a: "p", b: "%RETRY%g1" }, ""],
  // A producer group of one's own opens no other group's retry topic.
  [310, { a: "g1", b: "%RETRY%other" }, "Group:other"],
  [11, { topic: "T", consumerGroup: "g1" }, ""],
  [11, { topic: "T", consumerGroup: "h" }, "Group:h"],
  [11, { topic: "orders-1", consumerGroup: "g" }, "Topic:orders-1"],
  [12, { topic: "T" }, ""],
  [14, { topic: "%RETRY%g1", consumerGroup: "g1" }, ""],
  [15, { topic: "T", consumerGroup: "g1" }, ""],
  [17, { topic: "T" }, "Topic:T"],
  [21, {}, "Cluster:DefaultCluster"],
  [25, {}, "Cluster:DefaultCluster"],
  [987, {}, "Cluster:DefaultCluster"],
  [3001, { username: "u" }, "Cluster:DefaultCluster"],
  [3005, {}, "Cluster:DefaultCluster"],
  [31_005, {}, "Cluster:DefaultCluster"],
];

test("a user may what its policies say; a super user may everything", async () => {
  await withUsers(async (site) => {
    const alice = await site.user("alice", ALICE_ENTRIES);
    for (const [code, fields, refusal] of REQUESTS) {
      const answer = await site.signed(code, fields, null, alice);
      const what = `${code} ${JSON.stringify(fields)}: ${answer.remark}`;
      assertEquals(answer.code, refusal === "" ? 0 : 16, what);
      assert(answer.remark.includes(refusal), what);
      if (code > 3000) continue;
      assertEquals((await site.signed(code, fields)).code, 0, what);
    }
    const home = { b: "home" };
    const near = await site.signed(310, home, null, alice, "10.1.2.3:4");
    assertEquals(near.code, 0, near.remark);
  });
});

test("a default policy counts where no custom entry matches", async () => {
  await withUsers(async (site) => {
    const bob = await site.user("bob", [entry("Topic:no", "Pub", "Deny")]);
    await site.allow("bob", [entry("Topic:*", "Pub,Sub")], "Default");
    const send = (b: string) => site.signed(310, { b }, null, bob);
    assertEquals((await send("any")).code, 0);
    assertEquals((await send("no")).code, 16);
  });
});

test("a heartbeat needs its groups and their topics", async () => {
  await withUsers(async (site) => {
    const alice = await site.user("alice", ALICE_ENTRIES);
    const body = JSON.parse(new TextDecoder().decode(HEARTBEAT));
    assertEquals((await site.signed(34, {}, body, alice)).code, 0);
    body.consumerDataSet[0].groupName = "other";
    assertEquals((await site.signed(34, {}, body, alice)).code, 16);
  });
});

/** What an attacker does to a signed request, and the start of the refusal. */
const ATTACKS: [string, (request: RemotingCommand) => void, string][] = [
  ["no name", (it) => delete it.extFields["AccessKey"], "username cannot be n"],
  ["an empty name", (it) => it.extFields["AccessKey"] = "", "username cannot"],
  ["no signature", (it) => delete it.extFields["Signature"], "check signature"],
  ["an empty signature", (it) => it.extFields["Signature"] = "", "check sign"],
  [
    "a longer signature",
    (it) => it.extFields["Signature"] += "=",
    "check signature failed",
  ],
  [
    "another case",
    (it) =>
      it.extFields["Signature"] = it.extFields["Signature"]!.toLowerCase(),
    "check signature failed",
  ],
  [
    "another body",
    (it) => it.body = new Uint8Array([9]),
    "check signature failed",
  ],
  ["no body", (it) => it.body = new Uint8Array(0), "check signature failed"],
  ["another topic", (it) => it.extFields["b"] = "U", "check signature failed"],
  ["a field more", (it) => it.extFields["z"] = "1", "check signature failed"],
  ["a field less", (it) => delete it.extFields["e"], "check signature failed"],
  [
    "another user's name",
    (it) => it.extFields["AccessKey"] = SUPER.username,
    "check signature failed",
  ],
  [
    "a name of a megabyte",
    (it) => it.extFields["AccessKey"] = "x".repeat(1_000_000),
    "User:xxxx",
  ],
  [
    "a name that breaks lines",
    (it) => it.extFields["AccessKey"] = "x\ny",
    "User:x?y is not found.",
  ],
  [
    "a name of every object",
    (it) => it.extFields["AccessKey"] = "__proto__",
    "User:__proto__ is not found.",
  ],
];

test("a signature holds for its request alone, and nothing else is one", async () => {
  await withUsers(async (site) => {
    const alice = await site.user("alice", ALICE_ENTRIES);
    const signed = () => {
      const request = createRequest(
        310,
        { b: "T", e: "0" },
        new Uint8Array([1, 2]),
      );
      signRequest(request, {
        accessKey: "alice",
        secretKey: alice.password,
      });
      return request;
    };
    assertEquals((await site.ask(signed())).code, 0);
    for (const [name, attack, refusal] of ATTACKS) {
      const request = signed();
      attack(request);
      const { code, remark } = await site.ask(request);
      assertEquals(code, 16, name);
      assert(remark?.startsWith(refusal), `${name}: ${remark}`);
      assert(remark!.length < 250 && !remark!.includes("\n"), name);
    }
    // The order of fields is no part of a request.
    const request = signed();
    request.extFields = Object.fromEntries(
      Object.entries(request.extFields).reverse(),
    );
    assertEquals((await site.ask(request)).code, 0);
    // Two codes, a second at most each.
    const refused = site.logger.lines.filter((it) => it.includes("refused"));
    assertEquals(refused.length, 1, refused.join("\n"));
  });
});

test("a signature is the same in both serialisations of the header", async () => {
  await withUsers(async (site) => {
    const alice = await site.user("alice", ALICE_ENTRIES);
    for (const serializeType of [0, 1] as const) {
      for (const fault of ["", "body", "topic", "order"]) {
        const request = createRequest(
          310,
          { b: "T", a: "größe", z: "", i: "KEYS\u0001k\u0002" },
          new TextEncoder().encode("Körper"),
        );
        request.serializeType = serializeType;
        signRequest(request, {
          accessKey: "alice",
          secretKey: alice.password,
        });
        if (fault === "body") request.body = new TextEncoder().encode("K");
        if (fault === "topic") request.extFields["b"] = "T2";
        if (fault === "order") {
          request.extFields = Object.fromEntries(
            Object.entries(request.extFields).reverse(),
          );
        }
        const received = decodeCommand(encodeCommand(request));
        const { code, remark } = await site.ask(received);
        const isFalse = fault === "body" || fault === "topic";
        assertEquals(
          code,
          isFalse ? 16 : 0,
          `${serializeType} ${fault}: ${remark}`,
        );
      }
    }
  });
});

test("no answer, line or error shows a password", async () => {
  await withUsers(async (site, folder) => {
    const alice = await site.user("alice", ALICE_ENTRIES);
    const secrets = [
      alice.password,
      SUPER.password,
      "inner-secret",
      "bad-pass",
    ];
    const shown: unknown[] = [];
    for (const code of [3004, 3005, 3009, 3010, 31_005, 25]) {
      const fields = { username: "alice", subject: "User:alice" };
      shown.push(await site.signed(code, fields));
    }
    shown.push(
      await site.signed(3001, { username: "alice" }, { password: "bad-pass" }),
      await site.signed(3001, { username: "bob" }, {
        password: "bad-pass",
        userType: "King",
      }),
      await site.signed(3001, { username: "bob" }, {
        password: "sealed:bad-pass",
      }),
      await site.signed(310, { b: "T" }, null, { ...alice, password: "bad" }),
      ...site.logger.lines,
    );
    const text = JSON.stringify(shown);
    for (const secret of secrets) assert(!text.includes(secret), text);
    assert(text.includes('"password":"sealed:'), text);
    // The file must hold it: it is the key of the signatures.
    const file = readFileSync(`${folder}/config/auth.json`, "utf8");
    assert(file.includes(alice.password));
  });
});

test("white lists of codes let pass what is not signed, or what no policy allows", async () => {
  await withUsers(async (site) => {
    const request = createRequest(310, { b: "T" });
    assertEquals((await site.ask(request)).code, 0);
    assertEquals((await site.ask(createRequest(11, { topic: "T" }))).code, 16);
    // Without a policy a name that nobody has signed is worth nothing.
    const claimed = createRequest(12, {
      topic: "T",
      AccessKey: SUPER.username,
    });
    assertEquals((await site.ask(claimed)).code, 16);
  }, {
    authenticationWhitelist: new Set([310, 12]),
    authorizationWhitelist: new Set([310]),
  });
});

test("without authorization every user that signs may everything", async () => {
  await withUsers(async (site) => {
    const alice = await site.user("alice");
    assertEquals((await site.signed(25, {}, null, alice)).code, 0);
    assertEquals((await site.ask(createRequest(25))).code, 16);
  }, { authorizationEnabled: false });
});

test("a disabled user, and one that is gone, is refused at once", async () => {
  await withUsers(async (site) => {
    const alice = await site.user("alice", ALICE_ENTRIES);
    const send = () => site.signed(310, { b: "T" }, null, alice);
    assertEquals((await send()).code, 0);
    const change = { userStatus: "disable" };
    await site.signed(3002, { username: "alice" }, change);
    assertEquals((await send()).remark, "User:alice is disabled.");
    await site.signed(3002, { username: "alice" }, { userStatus: "enable" });
    assertEquals((await send()).code, 0);
    await site.signed(3003, { username: "alice" });
    assertEquals((await send()).remark, "User:alice is not found.");
  });
});
