/** A simulated site: one name server, fake brokers and clients in virtual time. */
import { DEFAULT_CLIENT_OPTIONS } from "../../src/client/client_options.ts";
import { MQClientInstance } from "../../src/client/mq_client_instance.ts";
import { NamesrvController } from "../../src/namesrv/namesrv_controller.ts";
import { DEFAULT_NAMESRV_OPTIONS } from "../../src/namesrv/namesrv_options.ts";
import { DEFAULT_REMOTING_SERVER_OPTIONS } from "../../src/remoting/remoting_options.ts";
import { SimClock } from "../sim/sim_clock.ts";
import { SimLogger } from "../sim/sim_logger.ts";
import { SimNetwork } from "../sim/sim_network.ts";
import { SimRandom } from "../sim/sim_random.ts";
import { FakeBroker } from "./fake_broker.ts";

const NAMESRV_PORT = 9_876;

export class SimSite {
  readonly clock = new SimClock();
  readonly network = new SimNetwork(this.clock);
  readonly logger = new SimLogger();
  readonly namesrvs: string[] = [];
  #clientCount = 0;

  /** Starts a name server on a host of its own. */
  async namesrv(host = "10.0.9.1"): Promise<NamesrvController> {
    const controller = new NamesrvController(
      {
        ...this.ports(host),
        openJsonFile: () => ({
          read: () => undefined,
          write: () => Promise.resolve(),
        }),
      },
      { ...DEFAULT_NAMESRV_OPTIONS, bindAddress: host },
      DEFAULT_REMOTING_SERVER_OPTIONS,
    );
    await this.clock.complete(controller.start());
    this.namesrvs.push(`${host}:${NAMESRV_PORT}`);
    return controller;
  }

  /** Starts a broker that registers with the first name server. */
  async broker(
    name: string,
    host: string,
    topics: readonly string[],
    queueNums = 2,
  ): Promise<FakeBroker> {
    const broker = new FakeBroker(this.ports(host), name, host);
    await this.clock.complete(
      broker.start(this.namesrvs[0]!, topics, queueNums),
    );
    return broker;
  }

  /** A client on a host of its own. */
  instance(): MQClientInstance {
    const host = `10.0.5.${++this.#clientCount}`;
    return new MQClientInstance(
      {
        ...this.ports(host),
        random: new SimRandom(this.#clientCount),
        host: {
          pid: this.#clientCount,
          addresses: () => [{
            address: host,
            family: 4,
            isLoopback: false,
            interfaceName: "eth0",
          }],
        },
      },
      { ...DEFAULT_CLIENT_OPTIONS, namesrvAddr: this.namesrvs.join(";") },
    );
  }

  ports(host: string) {
    return {
      clock: this.clock,
      network: this.network.host(host),
      logger: this.logger,
    };
  }
}

export const bytesOf = (text: string) => new TextEncoder().encode(text);
export const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
