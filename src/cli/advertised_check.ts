/**
 * AdvertisedCheck: does this broker answer at the address that clients are told?
 *
 * Behind NAT and in containers that address is somebody else's word. A wrong one shows at the
 * clients only, and there as a time-out; so the start tries it once, and says what came of it.
 */
import { HAPeerInquiry } from "../broker/ha_peer_inquiry.ts";
import type { Clock } from "../io/clock.ts";
import type { Logger } from "../io/logger.ts";
import type { Network } from "../io/network.ts";
import { RemotingClient } from "../remoting/remoting_client.ts";
import {
  DEFAULT_REMOTING_CLIENT_OPTIONS,
  type RemotingClientOptions,
} from "../remoting/remoting_options.ts";
import type { TlsSource } from "../remoting/entrance/tls_ports.ts";
import type { ServerListener } from "./serve.ts";

const TICK_MS = 100;

/** What it needs of the machine. */
export interface AdvertisedCheckPorts {
  readonly network: Network;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Of a server that takes TLS only. */
  readonly clientTls?: TlsSource | undefined;
}

/** Asks over the advertised address and logs one line. Never rejects. */
export async function checkAdvertised(
  ports: AdvertisedCheckPorts,
  brokerName: string,
  listeners: readonly ServerListener[],
  options: RemotingClientOptions = DEFAULT_REMOTING_CLIENT_OPTIONS,
): Promise<void> {
  const broker = listeners.find((it) => it.name === "broker");
  // Where it is the bound address there is nothing to doubt.
  if (broker === undefined || broker.advertised === broker.bound) return;
  const { advertised } = broker;
  const { clock, logger } = ports;
  const client = new RemotingClient(ports, options);
  const timer = clock.every(TICK_MS, () => client.tick());
  const answer = await new HAPeerInquiry(client).askOne(advertised);
  timer.cancel();
  await client.close();
  if (answer === null) {
    logger.warn(
      `Nobody answers this machine at ${advertised}, the address that clients are told: ` +
        "set brokerIP1 to an address that they reach, and let its port lead to listenPort",
    );
  } else if (answer.brokerName !== brokerName) {
    logger.warn(
      `At ${advertised}, the address that clients are told, broker ${answer.brokerName} answers ` +
        "instead of this one: set brokerIP1, and let its port lead to listenPort",
    );
  } else {
    logger.info(
      `This broker answers at ${advertised}, the address that clients are told`,
    );
  }
}
