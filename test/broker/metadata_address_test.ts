import { assertEquals } from "@std/assert";
import { test } from "node:test";
import {
  isAddressDerived,
  metadataAddressOf,
} from "../../src/broker/metadata_address.ts";

const KNOWN = { masterAddressKey: null, haAddress: null, masterAddr: null };

test("57: tables come over the address of replication, on the port of the clients", () => {
  const both = {
    ...KNOWN,
    haAddress: "10.0.0.5:10912",
    masterAddr: "203.0.113.5:20911",
  };
  assertEquals(metadataAddressOf(both), "10.0.0.5:20911");
  assertEquals(
    metadataAddressOf({ ...both, masterAddressKey: "10.9.9.9:1" }),
    "10.9.9.9:1",
  );
});

test("without a name server the port is HA port - 1", () => {
  const known = { ...KNOWN, haAddress: "10.0.0.5:10912" };
  assertEquals(metadataAddressOf(known), "10.0.0.5:10911");
  assertEquals(
    metadataAddressOf({ ...KNOWN, haAddress: "[fd00::5]:10912" }),
    "[fd00:0:0:0:0:0:0:5]:10911",
  );
});

test("only the clients' address, or none, or junk", () => {
  const known = { ...KNOWN, masterAddr: "10.0.0.5:10911" };
  assertEquals(metadataAddressOf(known), "10.0.0.5:10911");
  assertEquals(metadataAddressOf(KNOWN), null);
  for (const junk of ["", "host", ":1", "host:x", "host:0"]) {
    assertEquals(metadataAddressOf({ ...KNOWN, haAddress: junk }), null, junk);
  }
});

test("isAddressDerived() is true only where nobody told the remoting port", () => {
  const haAddress = "10.0.0.5:10912";
  const none = { masterAddressKey: null, haAddress, masterAddr: null };
  assertEquals(isAddressDerived(none), true);
  assertEquals(
    isAddressDerived({ ...none, masterAddressKey: "10.0.0.5:9" }),
    false,
  );
  assertEquals(isAddressDerived({ ...none, masterAddr: "10.0.0.5:9" }), false);
});
