import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { HAPeersFile } from "../../src/broker/ha_peers_file.ts";
import { FakeClock, FakeLogger } from "./fakes.ts";
import { FakeFile } from "./ha_fence_site.ts";

function open(file: FakeFile): HAPeersFile {
  const peers = new HAPeersFile({
    clock: new FakeClock(),
    logger: new FakeLogger(),
    file,
  });
  peers.load();
  return peers;
}

test("HAPeersFile keeps the brokers seen last, each once, and no junk", async () => {
  const file = new FakeFile();
  const peers = open(file);
  for (const it of ["a:1", "a:1", "no port", "a:0", ""]) peers.remember(it);
  for (let port = 1; port <= 8; port++) peers.remember(`b:${port}`);
  peers.forget("b:3");
  peers.forget("c:1");
  await peers.persist();
  assertEquals(open(file).peers, peers.peers);
  assertEquals(peers.peers[0], "b:1");
  assertEquals(peers.peers.length, 7);
});

test("HAPeersFile keeps the highest epoch that was proved", async () => {
  const file = new FakeFile();
  const peers = open(file);
  assertEquals(peers.rival, null);
  peers.prove({ address: "a:1", epoch: 2, isMaster: false, isTied: false });
  peers.prove({ address: "b:1", epoch: 1, isMaster: true, isTied: false });
  peers.prove({ address: "c:1", epoch: 2, isMaster: true, isTied: false });
  await peers.persist();
  assertEquals(open(file).rival, {
    address: "c:1",
    epoch: 2,
    isMaster: true,
    isTied: false,
  });
});

test("HAPeersFile keeps which kind of master was followed last", async () => {
  const file = new FakeFile();
  const peers = open(file);
  assertEquals(peers.followedRole, null);
  peers.followed("SYNC_MASTER");
  // A master that became a slave was one all the same.
  for (const it of ["SLAVE", "", "LEADER"]) peers.followed(it);
  await peers.persist();
  assertEquals(open(file).followedRole, "SYNC_MASTER");
});

test("HAPeersFile without a file that can be read holds nobody", () => {
  for (const text of ["[]", "{}", '{"peers":7}', '{"rival":{"epoch":-1}}']) {
    const file = new FakeFile();
    file.text = text;
    assertEquals(open(file).peers, []);
    assertEquals(open(file).rival, null);
  }
});
