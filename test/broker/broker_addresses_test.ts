import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import {
  chooseAddresses,
  joinHostPort,
} from "../../src/broker/broker_addresses.ts";
import type { HostAddress } from "../../src/io/host.ts";

const ANY = { bindAddress: "0.0.0.0", brokerIP1: "", brokerIP2: "" };

function hostAddress(
  address: string,
  interfaceName = "eth0",
): HostAddress {
  return {
    address,
    family: address.includes(":") ? 6 : 4,
    isLoopback: address === "127.0.0.1" || address === "::1",
    interfaceName,
  };
}

test("chooseAddresses() prefers the key, then the bind address, then a real interface", () => {
  const host = [
    hostAddress("127.0.0.1", "lo"),
    hostAddress("172.17.0.1", "docker0"),
    hostAddress("fe80::1"),
    hostAddress("10.0.0.5"),
  ];
  const chosen = (changes: Partial<typeof ANY>, from = host) =>
    chooseAddresses({ ...ANY, ...changes }, from);
  assertEquals(chosen({ brokerIP1: "1.2.3.4" }).brokerIP1, "1.2.3.4");
  assertEquals(chosen({ brokerIP1: "1.2.3.4" }).why, "brokerIP1 is set");
  assertEquals(chosen({ bindAddress: "127.0.0.1" }).brokerIP1, "127.0.0.1");
  assertEquals(chosen({ bindAddress: "localhost" }).brokerIP1, "127.0.0.1");
  assertEquals(chosen({}).brokerIP1, "10.0.0.5");
  assert(chosen({}).why.includes("eth0"));
  assertEquals(chosen({ bindAddress: "::" }).brokerIP1, "10.0.0.5");
  assertEquals(chosen({}, host.slice(0, 2)).brokerIP1, "172.17.0.1");
  assertEquals(chosen({}, host.slice(0, 1)).brokerIP1, "127.0.0.1");
  assertEquals(chosen({}, []).brokerIP1, "127.0.0.1");
});

test("chooseAddresses() keeps a host name and its own slave address", () => {
  const chosen = chooseAddresses(
    { ...ANY, brokerIP1: "mq.example", brokerIP2: "10.9.9.9" },
    [hostAddress("10.0.0.5")],
  );
  assertEquals(chosen.brokerIP1, "mq.example");
  assertEquals(chosen.brokerIP2, "10.9.9.9");
  assertEquals(chosen.storeAddress, Uint8Array.of(10, 0, 0, 5));
});

test("joinHostPort() puts IPv6 in brackets", () => {
  assertEquals(joinHostPort("10.0.0.1", 1), "10.0.0.1:1");
  assertEquals(joinHostPort("mq.example", 1), "mq.example:1");
  assertEquals(joinHostPort("::1", 1), "[0:0:0:0:0:0:0:1]:1");
});
