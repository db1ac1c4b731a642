import { test } from "node:test";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { HAClientService } from "../../src/ha/ha_client_service.ts";
import {
  foreignMaster,
  type MasterPorts,
} from "../../src/ha/foreign_master.ts";
import { encodeTransferHeader } from "../../src/ha/transfer_header.ts";
import type { Connection, ConnectionEvents } from "../../src/io/network.ts";
import type { ReplicaLog } from "../../src/store/replica_log.ts";
import { FakeLogger } from "../broker/fakes.ts";
import { SimClock } from "../sim/sim_clock.ts";
import { SimRandom } from "../sim/sim_random.ts";
import { OPTIONS } from "./ha_fixture.ts";

const ADDRESS = "127.0.0.1:8080";
const PORTS: MasterPorts = { listenPort: 10911, haListenPort: 10912 };
const NONE = new Uint8Array(0);

test("foreignMaster() says what answers there, and which port is wanted", () => {
  const sentence = (
    address: string,
    head = NONE,
    ports: MasterPorts | null = PORTS,
  ) => foreignMaster(address, head, "ECONNRESET", ports);
  assertEquals(
    sentence("m:80", NONE, null),
    "m:80 answers nothing of the replication protocol (ECONNRESET): " +
      "haMasterAddress wants the replication port, usually listenPort+1",
  );
  assertEquals(
    sentence("m:10911"),
    "m:10911 is the master's remoting port and no replication port (ECONNRESET): " +
      "haMasterAddress wants the replication port, which is 10912 at this master",
  );
  assertStringIncludes(
    sentence("m:80", new TextEncoder().encode("HTTP/1.1 400 Bad")),
    "m:80 is no replication port: it sent HTTP",
  );
  // The right port: only there may haAllowedPeers be the reason.
  assertStringIncludes(
    sentence("m:10912"),
    "does haAllowedPeers of the master",
  );
  assertEquals(sentence("m:10911").includes("haAllowedPeers"), false);
});

/** A slave 500 bytes behind a master; what accepts its links says what a test says. */
class Slave {
  readonly clock = new SimClock();
  readonly logger = new FakeLogger();
  readonly links: ConnectionEvents[] = [];
  readonly service: HAClientService;

  constructor() {
    const log = {
      maxOffset: 1000,
      flushedOffset: 1000,
      mappedFileSize: 1_048_576,
      unappendableReason: null,
    } as unknown as ReplicaLog;
    const connection = {
      write: () => true,
      close() {},
      terminate() {},
    } as unknown as Connection;
    this.service = new HAClientService({
      network: {
        connect: (_: unknown, events: ConnectionEvents) => {
          this.links.push(events);
          return Promise.resolve(connection);
        },
      } as never,
      clock: this.clock,
      random: new SimRandom(1),
      logger: this.logger,
      log,
      probe: {
        compare: () =>
          Promise.resolve({
            kind: "prefix",
            requestOffset: 0,
            masterMaxOffset: 1500,
            ports: PORTS,
          }),
        masterMaxOffset: () => Promise.resolve(1500),
      },
      onAppended() {},
    }, OPTIONS);
    this.service.follow(ADDRESS);
    this.service.start();
  }

  async run(ms: number, look: () => void = () => {}): Promise<void> {
    for (let at = 0; at < ms; at += 100) {
      await this.clock.run(100);
      this.service.tick();
      look();
    }
  }
}

test("a slave whose address only accepts never says that it replicates", async () => {
  const slave = new Slave();
  await slave.run(1_000);
  const { problem, state } = slave.service.view();
  assertEquals([problem, state], [null, "HANDSHAKE"]);
  await slave.run(10_000);
  const problems = new Set<string>();
  await slave.run(40_000, () => {
    const view = slave.service.view();
    assertEquals(view.state === "TRANSFER", false);
    problems.add(`${view.problem}: ${view.reason}`);
    assertEquals(slave.service.isTransferring, false);
  });
  assertEquals([...problems], [
    `disconnected: ${ADDRESS} answers nothing of the replication protocol ` +
    "(silent for 10000 ms): haMasterAddress wants the replication port, " +
    "which is 10912 at this master",
  ]);
  assertEquals(slave.links.length > 2, true);
  assertEquals(slave.logger.lines.length, 1);
  slave.links.at(-1)!.onData(
    encodeTransferHeader({ phyOffset: 1000, bodySize: 0 }),
  );
  const view = slave.service.view();
  assertEquals([view.problem, view.state], [null, "TRANSFER"]);
  assertEquals(slave.service.isTransferring, true);
});

test("a slave names what it follows instead of a master", async () => {
  for (
    const [bytes, expected] of [
      ["HTTP/1.1 400 Bad Request", "it sent HTTP"],
      ["SSH-2.0-x", "it sent SSH"],
      [null, "answers nothing of the replication protocol (it ended the link"],
    ] as const
  ) {
    const slave = new Slave();
    await slave.run(200);
    if (bytes !== null) {
      slave.links[0]!.onData(new TextEncoder().encode(bytes));
    }
    slave.links[0]!.onClose("ECONNRESET");
    const { reason } = slave.service.view();
    assertStringIncludes(reason!, expected);
    assertStringIncludes(reason!, ADDRESS);
  }
});
