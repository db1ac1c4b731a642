import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { remoteAddressPattern } from "../../src/auth/remote_address_pattern.ts";
import { parseIpAddress } from "../../src/model/socket_address.ts";

/** A pattern, addresses that it means, and addresses that it does not. */
const PATTERNS: [string, string[], string[]][] = [
  ["*", ["10.0.0.7", "::1"], []],
  ["*.*.*.*", ["10.0.0.7", "::1"], []],
  ["10.0.0.7", ["10.0.0.7", "::ffff:10.0.0.7"], ["10.0.0.8", "::1"]],
  ["192.168.0.*", ["192.168.0.0", "192.168.0.255"], ["192.168.1.0", "::1"]],
  ["192.168.*.*", ["192.168.1.2"], ["192.169.1.2"]],
  ["10.10.1-9.*", ["10.10.1.0", "10.10.9.255"], ["10.10.0.1", "10.10.10.1"]],
  ["10.0.0.5-7", ["10.0.0.5", "10.0.0.7"], ["10.0.0.4", "10.0.0.8"]],
  ["10.0.0.{7, 8}", ["10.0.0.7", "10.0.0.8"], ["10.0.0.78", "10.0.0.9"]],
  ["10.0.0.7,::1", ["10.0.0.7", "::1"], ["10.0.0.8", "::2"]],
  ["2001:db8::1", ["2001:DB8:0:0:0:0:0:1"], ["2001:db8::2"]],
  ["2001:db8::1-ff:*", ["2001:db8::f:7"], ["2001:db8::100:7", "10.0.0.7"]],
  ["fe80::{1,a}", ["fe80::1", "fe80::a"], ["fe80::1a"]],
];

for (const [text, inside, outside] of PATTERNS) {
  test(`the white list entry ${text} means what Apache's does`, () => {
    const pattern = remoteAddressPattern(text)!;
    assertEquals(inside.filter((it) => !pattern(parseIpAddress(it)!)), []);
    assertEquals(outside.filter((it) => pattern(parseIpAddress(it)!)), []);
  });
}

test("what is no white list entry is refused", () => {
  const wrong = [
    "localhost",
    "10.0.0",
    "10.0.0.256",
    "10.0.0.9-1",
    "10.0.0.-1",
    "10.0.0.{}",
    "10.0.{1,2}.3",
    "10.0.0.7,",
    "10.0.0.0/8",
    "2001:db8::1::2",
    "1:2:3:4:5:6:7:*:9",
    "::g",
    "",
  ];
  assertEquals(wrong.filter((it) => remoteAddressPattern(it)), []);
});
