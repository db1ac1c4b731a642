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

test("chooseAddresses() tells no address that nobody else can connect to", () => {
  const chosen = (...from: HostAddress[]) => chooseAddresses(ANY, from);
  const real = hostAddress("192.168.1.4", "eth1");
  for (
    const odd of ["0.0.1.1", "0.0.0.0", "240.0.0.1", "224.0.0.1", "127.0.1.1"]
      .concat("::", "fe80::1", "FE80::1", "febf::1", "ff02::1", "no address")
  ) {
    const strange = { ...hostAddress(odd), isLoopback: false };
    assertEquals(chosen(strange, real).brokerIP1, "192.168.1.4", odd);
    const alone = chosen(strange);
    assertEquals(alone.brokerIP1, "127.0.0.1", odd);
    assertEquals(alone.why, "this machine has no other address");
    // Whoever sets it has a reason.
    assertEquals(
      chooseAddresses({ ...ANY, brokerIP1: odd }, [strange, real]).brokerIP1,
      odd,
    );
  }
  // Of the own link only: better than nothing, and than an address of this machine alone.
  const link = hostAddress("169.254.7.7");
  assertEquals(chosen(link, real).brokerIP1, "192.168.1.4");
  assertEquals(chosen(link).brokerIP1, "169.254.7.7");
  assertEquals(
    chosen(hostAddress("2001:db8::1"), link).brokerIP1,
    "2001:db8::1",
  );
  // A route by name servers is IPv4 where there is one.
  assertEquals(
    chosen(hostAddress("2001:db8::1"), real).brokerIP1,
    "192.168.1.4",
  );
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
