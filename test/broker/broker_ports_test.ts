import { test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { bindPorts } from "../../src/broker/broker_ports.ts";
import { BrokerStartError } from "../../src/broker/broker_start_error.ts";
import type { Endpoint, Listener, Network } from "../../src/io/network.ts";

/** A machine where some ports are taken. */
class FakeNetwork implements Network {
  readonly open = new Set<number>();
  readonly taken = new Set<number>();
  nextFree = 20_000;
  code = "EADDRINUSE";

  readonly listen = ({ hostname, port }: Endpoint): Promise<Listener> => {
    while (this.taken.has(this.nextFree) && port === 0) this.nextFree++;
    const bound = port === 0 ? this.nextFree++ : port;
    if (this.taken.has(bound) || this.open.has(bound)) {
      return Promise.reject(
        Object.assign(new Error("no"), { code: this.code }),
      );
    }
    this.open.add(bound);
    return Promise.resolve({
      hostname,
      port: bound,
      close: () => {
        this.open.delete(bound);
        return Promise.resolve();
      },
    });
  };

  connect(): never {
    throw new Error("not here");
  }
}

function listenOn(network: FakeNetwork) {
  return { remoting: network.listen, ha: network.listen };
}

const OPTIONS = {
  bindAddress: "127.0.0.1",
  listenPort: 10_911,
  haListenPort: 0,
};

test("bindPorts() binds the port, the VIP port and the HA port", async () => {
  const network = new FakeNetwork();
  const bound = await bindPorts(network, listenOn(network), OPTIONS);
  assertEquals(bound.ha.port, 10_912);
  assertEquals([...network.open], [10_911, 10_909, 10_912]);
});

test("bindPorts() takes a free port whose neighbours are free", async () => {
  const network = new FakeNetwork();
  network.taken.add(19_998).add(20_002);
  const bound = await bindPorts(network, listenOn(network), {
    ...OPTIONS,
    listenPort: 0,
  });
  assertEquals(bound.broker.port, 20_003);
  assertEquals([...network.open], [20_003, 20_001, 20_004]);
});

test("bindPorts() names the port, the key and the cure", async () => {
  const cases: [number, string, string][] = [
    [10_911, "127.0.0.1:10911 (listenPort)", "listenPort"],
    [10_909, "127.0.0.1:10909 (listenPort-2", "listenPort"],
    [10_912, "127.0.0.1:10912 (listenPort+1", "listenPort"],
  ];
  for (const [port, part, key] of cases) {
    const network = new FakeNetwork();
    network.taken.add(port);
    const error = await assertRejects(
      () => bindPorts(network, listenOn(network), OPTIONS),
      BrokerStartError,
      part,
    );
    assertEquals([error.key, error.value], [key, "10911"]);
    assert(error.cure.includes("another port"));
  }
  const network = new FakeNetwork();
  network.taken.add(30_000);
  const error = await assertRejects(
    () =>
      bindPorts(network, listenOn(network), {
        ...OPTIONS,
        haListenPort: 30_000,
      }),
    BrokerStartError,
  );
  assertEquals([error.key, error.value], ["haListenPort", "30000"]);
});

test("bindPorts() refuses ports without room below and strange addresses", async () => {
  const network = new FakeNetwork();
  await assertRejects(
    () => bindPorts(network, listenOn(network), { ...OPTIONS, listenPort: 2 }),
    BrokerStartError,
    "listenPort-2 is no port",
  );
  network.code = "EADDRNOTAVAIL";
  network.taken.add(10_911);
  const error = await assertRejects(
    () => bindPorts(network, listenOn(network), OPTIONS),
    BrokerStartError,
    "no such address",
  );
  assertEquals(error.key, "bindAddress");
  network.code = "ENOTFOUND";
  const unresolved = await assertRejects(
    () => bindPorts(network, listenOn(network), OPTIONS),
    BrokerStartError,
    "cannot be resolved",
  );
  assertEquals(unresolved.key, "bindAddress");
});

test("bindPorts() says a strange reason once, and blames no other program", async () => {
  const network = new FakeNetwork();
  network.code = "EMFILE";
  network.taken.add(10_911);
  const error = await assertRejects(
    () => bindPorts(network, listenOn(network), OPTIONS),
    BrokerStartError,
  );
  assertEquals([error.message, error.key], ["no", "listenPort"]);
  assert(!error.cure.includes("program"), error.cure);
});
