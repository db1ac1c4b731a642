/**
 * HARemoting: the questions that brokers of a simulated pair ask each other over remoting. They
 * travel over the simulated links; what is answered comes from the product's processors, where a
 * node without all parts of a broker can have them.
 */
import { encodeKVTable } from "../../src/protocol/body/kv_table.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../../src/protocol/remoting_command.ts";
import { RequestCode } from "../../src/protocol/request_code.ts";
import { ResponseCode } from "../../src/protocol/response_code.ts";
import {
  bodyResponse,
  textResponse,
} from "../../src/broker/processor/admin_response.ts";
import type { Clock } from "../../src/io/clock.ts";
import type { HANode, HAWorld } from "./ha_node.ts";

export const REMOTING_PORT = 10_911;
export const HA_PORT = 10_912;
export const BROKER_NAME = "broker-a";
export const CLUSTER_NAME = "DefaultCluster";

/** One process asks. */
export class HARemoting {
  constructor(
    private readonly world: HAWorld,
    private readonly host: string,
    /** Ends with the process, and its questions with it. */
    private readonly clock: Clock,
  ) {}

  /** Rejects when there is no answer. */
  invoke(
    address: string,
    request: RemotingCommand,
    timeoutMs: number,
  ): Promise<RemotingCommand> {
    return new Promise((resolve, reject) => {
      const timer = this.clock.after(
        timeoutMs,
        () => reject(new Error(`No answer of ${address}`)),
      );
      this.#ask(address.slice(0, address.lastIndexOf(":")), request)
        .finally(() => timer.cancel())
        .then(resolve, reject);
    });
  }

  async #ask(
    target: string,
    request: RemotingCommand,
  ): Promise<RemotingCommand> {
    const { network, nodes } = this.world;
    await arrival(network, this.host, target);
    if (network.isCut(this.host, target)) throw new Error("EHOSTUNREACH");
    const life = nodes.get(target)?.life ?? null;
    if (life === null) throw new Error("ECONNREFUSED");
    const response = await answerOf(nodes.get(target)!, request);
    await arrival(network, target, this.host);
    if (life !== nodes.get(target)!.life) throw new Error("ECONNRESET");
    return response;
  }
}

function arrival(
  network: HAWorld["network"],
  from: string,
  to: string,
): Promise<void> {
  return new Promise((arrive) => network.link(from, to).send(0, arrive));
}

async function answerOf(
  node: HANode,
  request: RemotingCommand,
): Promise<RemotingCommand> {
  const { processors, store } = node.life!;
  switch (request.code) {
    case RequestCode.GET_BROKER_CONFIG:
      return textResponse(
        `brokerName=${BROKER_NAME}\nbrokerClusterName=${CLUSTER_NAME}\n` +
          `mappedFileSizeCommitLog=${node.options.store.mappedFileSizeCommitLog}\n`,
      );
    case RequestCode.GET_BROKER_RUNTIME_INFO:
      return bodyResponse(encodeKVTable(
        new Map([
          ["commitLogMinOffset", `${store.minPhyOffset}`],
          ["commitLogMaxOffset", `${store.maxPhyOffset}`],
        ]),
      ));
  }
  const processor = processors?.get(request.code);
  if (processor === undefined) {
    return createResponse(ResponseCode.REQUEST_CODE_NOT_SUPPORTED);
  }
  // These processors look at the request only.
  const response = await processor(undefined as never, request);
  return response as RemotingCommand;
}
