/** PopAssembly: wires POP consumption to one run of a broker. */
import type { HACoordinator } from "../../ha/ha_coordinator.ts";
import type { Clock } from "../../io/clock.ts";
import type { Logger } from "../../io/logger.ts";
import type { Random } from "../../io/random.ts";
import type { SocketAddress } from "../../model/socket_address.ts";
import type { OuterClient } from "../broker_outer_api.ts";
import type { BrokerOptions } from "../broker_options.ts";
import type { BrokerParts } from "../broker_parts.ts";
import type { HAFence } from "../ha_fence.ts";
import type { ShutdownGate } from "../shutdown_gate.ts";
import { PopService } from "./pop_service.ts";
import { TopicRouteInfo } from "./topic_route_info.ts";

/** What is needed of the run. */
export interface PopAssemblyPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly client: OuterClient;
  readonly ha: HACoordinator;
  readonly fence: HAFence;
  readonly gate: ShutdownGate;
  readonly storeHost: SocketAddress;
  namesrvAddrs(): readonly string[];
}

/** Pops on a master that is not fenced. */
export function assemblePop(
  parts: BrokerParts,
  options: BrokerOptions,
  ports: PopAssemblyPorts,
): PopService {
  const { client, clock, fence, gate, ha, logger, random, storeHost } = ports;
  return new PopService(parts, {
    store: ha.store,
    clock,
    random,
    logger: logger.child("pop"),
    storeHost,
    routes: new TopicRouteInfo({
      client,
      clock,
      namesrvAddrs: ports.namesrvAddrs,
      brokerName: options.brokerName,
      topics: parts.topicConfigManager,
    }),
    isMaster: () => ha.role !== "SLAVE",
    mayTake: () =>
      gate.isOpen && ha.role !== "SLAVE" && fence.refusal() === null,
  }, options);
}
