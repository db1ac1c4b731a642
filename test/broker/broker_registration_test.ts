import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import {
  BrokerRegistration,
  type BrokerRegistrationOptions,
} from "../../src/broker/broker_registration.ts";
import { DEFAULT_BROKER_OPTIONS } from "../../src/broker/broker_options.ts";
import type { RegisterBrokerResult } from "../../src/broker/broker_outer_api.ts";
import type { TopicConfig } from "../../src/model/topic_config.ts";
import { decodeRegisterBrokerBody } from "../../src/protocol/body/register_broker_body.ts";
import { FakeClock, FakeLogger, topicOf } from "./fakes.ts";

const IDENTITY = {
  clusterName: "C",
  brokerName: "b",
  brokerAddr: "127.0.0.1:10911",
  brokerId: 0,
  haServerAddr: "127.0.0.1:10912",
  heartbeatTimeoutMillis: 20_000,
};

class Site {
  readonly clock = new FakeClock();
  readonly logger = new FakeLogger();
  readonly topics = new Map<string, TopicConfig>([["T", topicOf("T")]]);
  readonly ordered: string[] = [];
  readonly registered: RegisterBrokerResult[] = [];
  dataVersion = { stateVersion: 0, timestamp: 1, counter: 1 };
  readonly dead = new Set<string>();
  readonly calls: string[] = [];
  readonly waiting: (() => void)[] = [];
  readonly heartbeatTimeouts = new Set<number>();
  isSlow = false;
  takesHeartbeats = true;
  isChanged = false;
  isOpen = true;
  isConfirmed = true;
  shownAt = "";
  result: RegisterBrokerResult = {
    masterAddr: undefined,
    haServerAddr: undefined,
    orderTopics: new Map(),
  };
  readonly registration: BrokerRegistration;

  constructor(changes: Partial<BrokerRegistrationOptions> = {}) {
    const call = async (address: string, what: string) => {
      this.calls.push(`${address} ${what}`);
      if (this.isSlow) {
        await new Promise<void>((resolve) => this.waiting.push(resolve));
      }
      if (this.dead.has(address)) throw new Error(`${address} is dead`);
    };
    // deno-lint-ignore no-this-alias -- the getter below needs it
    const site = this;
    this.registration = new BrokerRegistration(
      {
        outerAPI: {
          registerBroker: async (address, _identity, body) => {
            const { topicConfigSerializeWrapper } = decodeRegisterBrokerBody(
              body,
              false,
              479,
            );
            const table = topicConfigSerializeWrapper.topicConfigTable;
            const shown = [...table.values()].map((it) =>
              `${it.topicName}:${it.perm}`
            );
            await call(address, `103 ${shown.join()}`);
            return this.result;
          },
          unregisterBroker: (address) => call(address, "104"),
          sendHeartbeat: async (address, _identity, timeoutMs) => {
            this.heartbeatTimeouts.add(timeoutMs);
            await call(address, "904");
            return this.takesHeartbeats;
          },
          isDataVersionChanged: async (address) => {
            await call(address, "322");
            return this.isChanged;
          },
        },
        topics: {
          allTopics: () => this.topics,
          get dataVersion() {
            return site.dataVersion;
          },
          updateOrderTopics: (names) => void this.ordered.push(...names),
        },
        clock: this.clock,
        logger: this.logger,
        fence: {
          get isOpen() {
            return site.isOpen;
          },
          confirm: () => Promise.resolve(site.isConfirmed),
          isShownAt: (address) => Promise.resolve(site.shownAt === address),
        },
        onRegistered: (result) => void this.registered.push(result),
      },
      IDENTITY,
      { ...DEFAULT_BROKER_OPTIONS, namesrvAddr: "a:1;b:2", ...changes },
    );
  }

  async after(ms: number): Promise<string[]> {
    this.clock.advance(ms);
    this.registration.tick();
    await this.settle();
    return this.calls.splice(0);
  }

  async settle(): Promise<void> {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  }

  change(name: string): void {
    this.topics.set(name, topicOf(name));
    this.dataVersion = {
      ...this.dataVersion,
      counter: this.dataVersion.counter + 1,
    };
    this.registration.onTopicsChanged(name);
  }
}

test("BrokerRegistration tells every name server at start, period and heartbeat", async () => {
  const site = new Site();
  site.registration.start();
  await site.settle();
  assertEquals(site.calls.splice(0), ["a:1 103 T:6", "b:2 103 T:6"]);
  assertEquals(await site.after(4_999), []);
  assertEquals(await site.after(1), ["a:1 904", "b:2 904"]);
  for (let index = 0; index < 4; index++) await site.after(5_000);
  assertEquals(await site.after(5_000), ["a:1 103 T:6", "b:2 103 T:6"]);
  // A request without answer ends the connection, and with it a 4.x name server's topics.
  assertEquals([...site.heartbeatTimeouts], [10_000]);
});

test("BrokerRegistration goes on with the living and tries the dead each second", async () => {
  const site = new Site();
  site.dead.add("b:2");
  site.registration.start();
  await site.settle();
  site.calls.splice(0);
  // However long it is away: it must have its routes within two seconds of its return.
  for (let round = 0; round < 4; round++) {
    assertEquals(await site.after(900), []);
    assertEquals(await site.after(100), ["b:2 103 T:6"]);
  }
  assertEquals(
    site.logger.lines.filter((it) => it.startsWith("warn")).length,
    1,
  );
  site.dead.clear();
  assertEquals(await site.after(1_000), ["a:1 904", "b:2 103 T:6"]);
  assert(site.registration.states().every((it) => it.isRegistered));
});

test("BrokerRegistration tries a name server again at once when the attempt took its second", async () => {
  const site = new Site({ namesrvAddr: "b:2" });
  site.dead.add("b:2");
  site.isSlow = true;
  site.registration.start();
  await site.settle();
  site.calls.splice(0);
  assertEquals(await site.after(3_000), []);
  site.waiting.splice(0).forEach((it) => it());
  await site.settle();
  assertEquals(await site.after(0), ["b:2 103 T:6"]);
});

test("BrokerRegistration.start() tells a name server that was silent, and does not wait for it", async () => {
  const site = new Site();
  site.isSlow = true;
  let hasStarted = false;
  const starting = site.registration.start(["b:2"]).then(() => {
    hasStarted = true;
  });
  await site.settle();
  assertEquals(site.calls, ["a:1 103 T:6", "b:2 103 T:6"]);
  assertEquals(hasStarted, false);
  site.waiting[0]!();
  await starting;
  site.waiting[1]!();
  await site.settle();
  assert(site.registration.states().every((it) => it.isRegistered));
});

test("BrokerRegistration registers again at once when a connection was closed", async () => {
  const site = new Site({ namesrvAddr: "a:1" });
  site.registration.start();
  await site.settle();
  site.calls.splice(0);
  site.registration.onConnectionClosed("a:1");
  assertEquals(site.registration.states()[0]!.isRegistered, false);
  assertEquals(await site.after(100), ["a:1 103 T:6"]);
});

test("BrokerRegistration tells changed topics alone, or all when there are several", async () => {
  const site = new Site({ namesrvAddr: "a:1" });
  site.registration.start();
  await site.settle();
  site.calls.splice(0);
  site.change("U");
  assertEquals(await site.after(100), ["a:1 103 U:6"]);
  site.registration.onTopicsChanged(undefined);
  assertEquals(await site.after(100), ["a:1 103 T:6,U:6"]);
  for (let index = 0; index < 200; index++) site.change(`X${index}`);
  const [call] = await site.after(100);
  assertEquals(call!.split(",").length, 202);
});

test("BrokerRegistration keeps a change that comes while a registration runs", async () => {
  const site = new Site({ namesrvAddr: "a:1" });
  site.isSlow = true;
  site.registration.start();
  await site.settle();
  site.change("U");
  site.waiting.splice(0).forEach((it) => it());
  await site.settle();
  site.isSlow = false;
  assertEquals(await site.after(0), ["a:1 103 T:6", "a:1 103 U:6"]);
});

test("BrokerRegistration.registerChanges() waits for the living, a second at most", async () => {
  const site = new Site({ namesrvAddr: "a:1" });
  site.registration.start();
  await site.settle();
  site.change("U");
  await site.registration.registerChanges();
  assertEquals(site.calls.at(-1), "a:1 103 U:6");
  site.isSlow = true;
  site.change("V");
  let isDone = false;
  const waiting = site.registration.registerChanges().then(() => {
    isDone = true;
  });
  await site.settle();
  assertEquals(isDone, false);
  site.clock.advance(1_000);
  await waiting;
});

test("BrokerRegistration asks 322 first with forceRegister=false", async () => {
  const site = new Site({ namesrvAddr: "a:1", forceRegister: false });
  site.takesHeartbeats = false;
  site.registration.start();
  await site.settle();
  site.calls.splice(0);
  assertEquals(await site.after(5_000), ["a:1 904"]);
  assertEquals(await site.after(5_000), []);
  assertEquals(await site.after(30_000), ["a:1 322"]);
  site.isChanged = true;
  assertEquals(await site.after(30_000), ["a:1 322", "a:1 103 T:6"]);
});

test("BrokerRegistration masks permissions and takes order topics", async () => {
  const site = new Site({ namesrvAddr: "a:1", brokerPermission: 4 });
  site.result = { ...site.result, orderTopics: new Map([["T", "b:4"]]) };
  site.registration.start();
  await site.settle();
  assertEquals(site.calls, ["a:1 103 T:4"]);
  assertEquals(site.ordered, ["T"]);
});

test("BrokerRegistration follows a new list and leaves all at the end", async () => {
  const site = new Site();
  site.dead.add("b:2");
  site.registration.start();
  await site.settle();
  site.calls.splice(0);
  site.registration.reconfigure({
    ...DEFAULT_BROKER_OPTIONS,
    namesrvAddr: "b:2; c:3 ;;c:3",
  });
  assertEquals((await site.after(100)).sort(), ["a:1 104", "c:3 103 T:6"]);
  await site.registration.stop();
  assertEquals(site.calls, ["c:3 104"]);
  assertEquals(await site.after(60_000), ["c:3 104"]);
});

test("BrokerRegistration passes on what a name server says of the master", async () => {
  const site = new Site({ namesrvAddr: "a:1" });
  site.result = {
    ...site.result,
    masterAddr: "m:10911",
    haServerAddr: "m:10912",
  };
  site.registration.start();
  await site.settle();
  assertEquals(site.registered, [site.result]);
});

test("BrokerRegistration.registerAgain() does not wait for the period", async () => {
  const site = new Site({ namesrvAddr: "a:1" });
  site.registration.start();
  await site.settle();
  site.calls.length = 0;
  assertEquals(await site.after(100), []);
  site.registration.registerAgain();
  assertEquals((await site.after(100)).map((it) => it.slice(0, 7)), [
    "a:1 103",
  ]);
  assertEquals(await site.after(100), []);
});

test("BrokerRegistration tells nobody while the fence is not open", async () => {
  const site = new Site();
  site.registration.start();
  await site.settle();
  site.calls.splice(0);
  site.isOpen = false;
  site.change("U");
  assertEquals(await site.after(60_000), []);
  site.isOpen = true;
  assertEquals((await site.after(100)).length, 2);
});

test("BrokerRegistration tells a name server that does not know it only what the fence confirms", async () => {
  const site = new Site();
  site.isConfirmed = false;
  site.registration.start();
  await site.settle();
  assertEquals(await site.after(5_000), []);
  site.isConfirmed = true;
  assertEquals(await site.after(100), ["a:1 103 T:6", "b:2 103 T:6"]);
  // Known there, it is not asked about again.
  site.isConfirmed = false;
  assertEquals(await site.after(5_000), ["a:1 904", "b:2 904"]);
});

test("BrokerRegistration.withdraw() leaves only name servers that show this broker, for good", async () => {
  const site = new Site();
  site.registration.start();
  await site.settle();
  site.calls.splice(0);
  site.shownAt = "b:2";
  await site.registration.withdraw("another one is the master");
  assertEquals(site.calls.splice(0), ["b:2 104"]);
  assertEquals(await site.after(60_000), []);
  await site.registration.stop();
  assertEquals(site.calls, []);
  assertEquals(
    site.registration.states().map((it) => it.lastError),
    ["another one is the master", "another one is the master"],
  );
});
