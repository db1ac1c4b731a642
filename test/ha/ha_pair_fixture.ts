/** A pair on a simulated network, as its tests begin. */
import { DEFAULT_HA_OPTIONS, type HAOptions } from "../../src/ha/ha_options.ts";
import type { Connection } from "../../src/io/network.ts";
import type { MessageStoreOptions } from "../../src/store/store_options.ts";
import type { MasterProbe } from "../../src/ha/master_probe.ts";
import { brokerInner } from "../model/message_fixture.ts";
import { HANode, type HAWorld } from "../sim/ha_node.ts";
import { SimClock } from "../sim/sim_clock.ts";
import { SimNetwork } from "../sim/sim_network.ts";
import { SimRandom } from "../sim/sim_random.ts";
import { SMALL } from "../store/message_store_fixture.ts";

export const MASTER = "10.0.0.1";
export const SLAVE = "10.0.0.2";

/** Both nodes, not started. */
export interface Pair {
  readonly world: HAWorld;
  readonly master: HANode;
  readonly slave: HANode;
}

/** What a test may say of both stores. */
export interface PairOptions {
  readonly ha?: Partial<HAOptions>;
  readonly store?: Partial<MessageStoreOptions>;
  /** A connection as the master writes to it. */
  readonly wrapConnection?: (connection: Connection) => Connection;
  /** True: the master's remoting port does not tell the end of its log. */
  readonly isMute?: () => boolean;
}

/** A pair with Apache's intervals and files of 1 MiB. */
export function pairOf(
  { ha = {}, store: changes = {}, wrapConnection, isMute }: PairOptions = {},
): Pair {
  const clock = new SimClock();
  const network = new SimNetwork(clock);
  const world = { clock, network, random: new SimRandom(1), nodes: new Map() };
  const store = {
    ...SMALL,
    mappedFileSizeCommitLog: 1_048_576,
    maxMessageSize: 524_288,
    messageIndexEnable: false,
    ...changes,
  };
  const pair = {} as { -readonly [P in keyof Pair]: Pair[P] };
  const common = {
    ha: { ...DEFAULT_HA_OPTIONS, haAutoReseed: false, ...ha },
    bootstrap: () => "min" as const,
    wrapProbe: (probe: MasterProbe): MasterProbe => ({
      compare: (address) => probe.compare(address),
      masterMaxOffset: (address) =>
        isMute?.()
          ? Promise.reject(new Error("No answer"))
          : probe.masterMaxOffset(address),
    }),
  };
  pair.world = world;
  pair.master = new HANode(world, {
    ...common,
    host: MASTER,
    master: null,
    store,
    ...wrapConnection === undefined ? {} : { wrapConnection },
  });
  pair.slave = new HANode(world, {
    ...common,
    host: SLAVE,
    master: MASTER,
    store: { ...store, brokerRole: "SLAVE", brokerId: 1 },
  });
  return pair;
}

/** A put of the running master. */
export function put({ master }: Pair, bodySize: number) {
  return master.life!.puts.putMessage(
    brokerInner({ body: new Uint8Array(bodySize).fill(1) }),
  );
}
