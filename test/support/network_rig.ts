/** One Network under test, real or simulated, and how its time passes. */
import process from "node:process";
import type {
  Connection,
  ConnectionEvents,
  Network,
} from "../../src/io/network.ts";
import { SimClock } from "../sim/sim_clock.ts";
import { SimNetwork } from "../sim/sim_network.ts";
import { eventually } from "./eventually.ts";
import { TlsNetwork } from "./tls_network.ts";
import { openRuntime } from "#runtime";

export interface NetworkRig {
  readonly network: Network;
  readonly hostname: string;
  /** Lets time pass until `promise` settles. */
  complete<T>(promise: Promise<T>): Promise<T>;
  /** Lets time pass until `condition` holds. */
  until(condition: () => boolean): Promise<void>;
}

/** An address that no other test of this process has; Linux has all of 127/8. */
function ownLoopback(): string {
  if (process.platform !== "linux") return "127.0.0.1";
  const byte = () => 1 + Math.floor(Math.random() * 254);
  return `127.${byte()}.${byte()}.${byte()}`;
}

export function runtimeRig(): NetworkRig {
  return {
    network: openRuntime().network,
    hostname: ownLoopback(),
    complete: (promise) => promise,
    until: async (condition) => void await eventually(condition),
  };
}

/** The runtime's sockets, encrypted. */
export async function tlsRig(): Promise<NetworkRig> {
  const { clock, openTls } = openRuntime();
  const tls = await openTls();
  const rig = runtimeRig();
  return {
    ...rig,
    network: new TlsNetwork(
      { clock, network: rig.network },
      tls.openServer({ identity: null, clientAuth: "none", clientTrust: null }),
      tls.openClient({
        identity: null,
        verifiesServer: false,
        serverTrust: null,
      }),
    ),
  };
}

export function simulatedRig(): NetworkRig {
  const clock = new SimClock();
  const hostname = "10.0.0.1";
  return {
    network: new SimNetwork(clock).host(hostname),
    hostname,
    complete: (promise) => clock.complete(promise),
    until: (condition) => clock.until(condition, 60_000),
  };
}

/** Events of one end, remembered. */
export class Recorder implements ConnectionEvents {
  received = 0;
  /** Sum of all bytes, so that a lost or doubled one shows. */
  sum = 0;
  drains = 0;
  /** One entry for each `onClose`. */
  readonly reasons: (string | null)[] = [];
  connection!: Connection;

  onData(bytes: Uint8Array): void {
    this.received += bytes.length;
    for (const byte of bytes) this.sum += byte;
  }

  onDrain(): void {
    this.drains++;
  }

  onClose(reason: string | null): void {
    this.reasons.push(reason);
  }
}

/** Two ends of one connection, each with its recorder. */
export async function connectPair(rig: NetworkRig) {
  const server = new Recorder();
  const listener = await rig.network.listen(
    { hostname: rig.hostname, port: 0 },
    (connection) => {
      server.connection = connection;
      return server;
    },
  );
  const client = new Recorder();
  client.connection = await rig.complete(
    rig.network.connect(
      { hostname: rig.hostname, port: listener.port },
      client,
    ),
  );
  await rig.until(() => server.connection !== undefined);
  return { listener, server, client };
}
