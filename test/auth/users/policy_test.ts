/** Patterns of resources and addresses, and which policy entry decides. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { test } from "node:test";
import type { Action } from "../../../src/auth/access_rule.ts";
import { aclFromJson, aclToJson } from "../../../src/auth/users/auth_bodies.ts";
import type { PolicyEntry } from "../../../src/auth/users/policy.ts";
import { PolicyIndex } from "../../../src/auth/users/policy_index.ts";
import {
  parseResource,
  resourceKey,
  type ResourcePattern,
} from "../../../src/auth/users/resource_pattern.ts";
import { isFrom, parseSourceIp } from "../../../src/auth/users/source_ip.ts";
import { parseIpAddress } from "../../../src/model/socket_address.ts";

const RESOURCES: [string, string | undefined][] = [
  ["*", "*"],
  ["Topic:*", "Topic:*"],
  ["topic:abc", "Topic:abc"],
  ["GROUP:abc*", "Group:abc*"],
  ["Cluster:DefaultCluster", "Cluster:DefaultCluster"],
  ["Topic:a*b*", "Topic:a*"],
  ["Topic:a*b", "Topic:a*b"],
  ["Topic:**", "Topic:*"],
  ["Topic:a:b", "Topic:a:b"],
  ["Any:whatever", "*"],
  ["Topic", undefined],
  ["Queue:a", undefined],
  ["Unknown:a", undefined],
  ["", undefined],
  [":a", undefined],
];

test("parseResource() reads what Apache's Resource.of reads", () => {
  for (const [text, key] of RESOURCES) {
    const resource = parseResource(text);
    assertEquals(resource && resourceKey(resource), key, text);
  }
});

const NAME = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 4 });
const RESOURCE = fc.oneof(
  fc.constant("*"),
  fc.tuple(fc.constantFrom("Topic", "Group"), NAME, fc.constantFrom("", "*"))
    .map(([type, name, star]) => `${type}:${name}${star}`),
);
const ENTRY = fc.record({
  resource: RESOURCE,
  actions: fc.subarray(["Pub", "Sub", "All", "Get"], { minLength: 1 }),
  decision: fc.constantFrom("Allow", "Deny"),
  sourceIps: fc.subarray(["10.0.0.0/8", "10.0.0.7", "::/0"], { maxLength: 2 }),
});

test("the narrowest pattern that matches decides, as by sorting all that match [property]", () => {
  const policies = fc.array(
    fc.record({
      policyType: fc.constantFrom("Custom", "Default"),
      entries: fc.array(ENTRY, { minLength: 1, maxLength: 8 }),
    }),
    { maxLength: 3 },
  );
  const question = fc.record({
    kind: fc.constantFrom("Topic" as const, "Group" as const),
    name: NAME,
    actions: fc.subarray<Action>(["PUB", "SUB", "GET"], { minLength: 1 }),
    remoteAddress: fc.constantFrom("10.0.0.7", "10.0.0.8", "192.168.1.1", "::1")
      .map((it) => parseIpAddress(it)!),
  });
  fc.assert(
    fc.property(policies, question, (list, asked) => {
      const acl = aclFromJson({ policies: list });
      const expected = ["Custom" as const, "Default" as const]
        .map((type) => [...acl.get(type)?.values() ?? []])
        .map((entries) =>
          entries.filter((it) => isMatch(it, asked)).sort(byWidth)[0]?.decision
        )
        .find((it) => it !== undefined);
      assertEquals(new PolicyIndex(acl).decide(asked), expected);
    }),
    { numRuns: 300 },
  );
});

type Question = Parameters<PolicyIndex["decide"]>[0];

/** Entry by entry, as Apache goes through them. */
function isMatch(entry: PolicyEntry, question: Question): boolean {
  const { actions, resource, sourceIps } = entry;
  const { kind, name, type } = resource;
  const isName = kind === "ANY" ||
    (kind === "LITERAL"
      ? name === question.name
      : question.name.startsWith(name));
  const isSource = sourceIps.length === 0 ||
    sourceIps.some((it) => isFrom(parseSourceIp(it)!, question.remoteAddress));
  return (type === "Any" || (type === question.kind && isName)) && isSource &&
    actions.some((it) =>
      it === "All" ||
      question.actions.some((action) => action === it.toUpperCase())
    );
}

/** Apache's comparePolicyEntries: of one type, then `*`; LITERAL, longest PREFIXED, ANY. */
function byWidth(a: PolicyEntry, b: PolicyEntry): number {
  return widthOf(a.resource) - widthOf(b.resource);
}

function widthOf({ kind, name, type }: ResourcePattern): number {
  if (type === "Any") return 10_000;
  return kind === "LITERAL" ? 0 : kind === "ANY" ? 1_000 : 500 - name.length;
}

test("AclInfo comes back as it was read [property]", () => {
  const entries = fc.array(ENTRY, { minLength: 1, maxLength: 8 });
  fc.assert(fc.property(entries, (list) => {
    const acl = aclFromJson({ policies: [{ entries: list }] });
    const { policies } = aclToJson("u", acl);
    assertEquals(aclFromJson({ policies }), acl);
  }));
});

test("parseSourceIp() takes addresses and blocks, and nothing else", () => {
  const inside: [string, string, boolean][] = [
    ["10.0.0.7", "10.0.0.7", true],
    ["10.0.0.7", "10.0.0.8", false],
    ["10.0.0.0/8", "10.255.0.1", true],
    ["10.0.0.0/8", "11.0.0.1", false],
    ["10.1.2.3/9", "10.127.0.1", true],
    ["10.1.2.3/9", "10.128.0.1", false],
    ["0.0.0.0/0", "1.2.3.4", true],
    ["0.0.0.0/0", "::1", false],
    ["fe80::/10", "febf::1", true],
    ["fe80::/10", "fec0::1", false],
    ["::1", "0:0:0:0:0:0:0:1", true],
  ];
  for (const [block, address, expected] of inside) {
    const it = isFrom(parseSourceIp(block)!, parseIpAddress(address)!);
    assertEquals(it, expected, `${block} ${address}`);
  }
  const wrong = ["", "10.0.0", "10.0.0.256", "10.0.0.0/33", "::/129", "a/8"]
    .concat(["10.0.0.0/", "10.0.0.0/8/8", "10.0.0.*", "localhost", "1/-1"]);
  for (const it of wrong) assertEquals(parseSourceIp(it), undefined, it);
});

test("a policy of ten thousand entries is asked as fast as one of ten", () => {
  const msFor = (entryCount: number) => {
    const entries = Array.from({ length: entryCount }, (_, index) => ({
      resource: `Topic:t${index}${index % 2 === 0 ? "*" : ""}`,
      actions: ["Pub"],
      decision: "Allow",
    }));
    const index = new PolicyIndex(aclFromJson({ policies: [{ entries }] }));
    const from = performance.now();
    for (let count = 0; count < 3_000; count++) {
      index.decide({
        kind: "Topic",
        name: `none${count}`,
        actions: ["PUB"],
        remoteAddress: new Uint8Array(4),
      });
    }
    return performance.now() - from;
  };
  // One by one they would take a thousand times as long.
  const few = msFor(10);
  assert(msFor(10_000) < few * 100 + 500);
});
