/** A slave that comes back at another address, as a container does (scenario 22). */
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { decodeHARole } from "../../src/protocol/body/ha_role_body.ts";
import { PocketmqRequestCode } from "../../src/protocol/pocketmq_request_code.ts";
import { eventually } from "../support/eventually.ts";
import { RawClient } from "../support/raw_client.ts";
import { withTempDirectory } from "../support/temp_directory.ts";
import {
  type PairNode,
  startMaster,
  startSlave,
  stopAll,
} from "./pair_site.ts";

const { GET_HA_ROLE } = PocketmqRequestCode;

/** The slaves that `master` tells others of. */
async function toldSlaves({ address }: PairNode): Promise<readonly string[]> {
  const client = await RawClient.open(address);
  const { body } = await client.invoke(GET_HA_ROLE);
  client.close();
  return decodeHARole(body).slaves;
}

/** Resolves once the master tells of `slaves` alone. */
const tells = (master: PairNode, ...slaves: string[]) =>
  eventually(
    async () => (await toldSlaves(master)).join() === slaves.join(),
    { message: `the master tells of ${slaves.join()}` },
  );

/** Resolves once a look of the master has found `slave`. */
const isAsked = ({ controller }: PairNode) =>
  eventually(() => {
    const { requests } = controller.remotingServer.counters;
    return (requests.get(GET_HA_ROLE)?.received ?? 0) > 0;
  }, { message: "the slave is asked for its role" });

test("a slave at another address is one slave; one that stays away is still told of", () =>
  withTempDirectory(async (folder) => {
    const master = await startMaster(`${folder}/a`);
    const first = await startSlave(`${folder}/b`, master);
    const other = await startSlave(`${folder}/c`, master, {
      broker: { brokerId: 2 },
    });
    await eventually(async () => (await toldSlaves(master)).length === 2);
    await isAsked(first);
    await isAsked(other);
    await stopAll(first, other);
    const again = await startSlave(`${folder}/b`, master);
    assert(again.address !== first.address);
    await tells(master, other.address, again.address);
    assertEquals(again.controller.identity.brokerId, 1);
    await stopAll(again, master);
  }));
