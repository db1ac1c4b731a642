/**
 * BrokerPorts: binds listenPort, listenPort-2 and the replication port.
 *
 * Ports are bound before the store is opened, so that a conflict shows at once.
 * Until `open` a connection is reset: a client that is answered by a broker
 * without its tables would take "no offset" for the truth (scenario 94).
 */
import type {
  ConnectionEvents,
  Endpoint,
  Listener,
  Network,
} from "../io/network.ts";
import { BrokerStartError } from "./broker_start_error.ts";
import { joinHostPort } from "./broker_addresses.ts";

/** Keys of broker.conf that decide. */
export interface PortOptions {
  readonly bindAddress: string;
  readonly listenPort: number;
  readonly haListenPort: number;
}

/** What was bound. */
export interface BoundPorts {
  readonly broker: Listener;
  readonly vip: Listener;
  /** listenPort+1 unless set. */
  readonly ha: Listener;
}

const VIP_DISTANCE = 2;
const PORT_MIN = VIP_DISTANCE + 1;
const FREE_PORT_ATTEMPTS_MAX = 50;

const RESET: ConnectionEvents = Object.freeze({
  onData() {},
  onDrain() {},
  onClose() {},
});

/** A network whose listeners reset connections until it is opened, and while it is closed again. */
export class GatedNetwork implements Network {
  readonly #network: Network;
  #isOpen = false;

  constructor(network: Network) {
    this.#network = network;
  }

  open(): void {
    this.#isOpen = true;
  }

  close(): void {
    this.#isOpen = false;
  }

  readonly listen: Network["listen"] = (at, accept) =>
    this.#network.listen(at, (connection) => {
      if (this.#isOpen) return accept(connection);
      connection.terminate();
      return RESET;
    });

  readonly connect: Network["connect"] = (to, events) =>
    this.#network.connect(to, events);
}

/** Who listens on which port. */
export interface PortListen {
  /** The remoting server's. */
  readonly remoting: (at: Endpoint) => Promise<Listener>;
  readonly ha: (at: Endpoint) => Promise<Listener>;
}

/** Binds all ports. Throws `BrokerStartError`; closing what was bound is the caller's. */
export async function bindPorts(
  network: Network,
  listen: PortListen,
  options: PortOptions,
): Promise<BoundPorts> {
  const hostname = options.bindAddress;
  const port = options.listenPort === 0
    ? await findFreePort(network, hostname)
    : options.listenPort;
  if (port < PORT_MIN) {
    throw new BrokerStartError(
      `Cannot listen on port ${port}: listenPort-2 is no port`,
      "listenPort",
      String(port),
      `set listenPort to ${PORT_MIN} or more`,
    );
  }
  const isDerived = options.haListenPort === 0;
  const haPort = isDerived ? port + 1 : options.haListenPort;
  const broker = await bind(
    listen.remoting,
    { hostname, port },
    "listenPort",
    ["listenPort", port],
  );
  const vip = await bind(
    listen.remoting,
    { hostname, port: port - VIP_DISTANCE },
    "listenPort-2, for slaves and VIP clients",
    ["listenPort", port],
  );
  const ha = await bind(
    listen.ha,
    { hostname, port: haPort },
    isDerived ? "listenPort+1, for replication" : "haListenPort",
    isDerived ? ["listenPort", port] : ["haListenPort", haPort],
  );
  return { broker, vip, ha };
}

async function bind(
  listen: (at: Endpoint) => Promise<Listener>,
  at: Endpoint,
  what: string,
  [key, value]: readonly [string, number],
): Promise<Listener> {
  try {
    return await listen(at);
  } catch (error) {
    throw cannotListen(at.hostname, at.port, what, key, value, error);
  }
}

/** A port p where p-2, p and p+1 all bind. */
async function findFreePort(
  network: Network,
  hostname: string,
): Promise<number> {
  let lastError: unknown = null;
  for (let attempt = 0; attempt < FREE_PORT_ATTEMPTS_MAX; attempt++) {
    const bound: Listener[] = [];
    try {
      const first = await network.listen({ hostname, port: 0 }, () => RESET);
      bound.push(first);
      for (const port of [first.port - VIP_DISTANCE, first.port + 1]) {
        bound.push(await network.listen({ hostname, port }, () => RESET));
      }
      return first.port;
    } catch (error) {
      lastError = error;
      // Not even any free port: the address is wrong, and stays so.
      if (bound.length === 0) break;
    } finally {
      for (const it of bound) await it.close();
    }
  }
  throw cannotListen(hostname, 0, "any free port", "listenPort", 0, lastError);
}

function cannotListen(
  hostname: string,
  port: number,
  what: string,
  key: string,
  value: number,
  error: unknown,
): BrokerStartError {
  const code = (error as { code?: unknown } | null)?.code;
  const here = `Cannot listen on ${joinHostPort(hostname, port)} (${what})`;
  const options = { cause: error };
  switch (code) {
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new BrokerStartError(
        code === "ENOTFOUND"
          ? `${here}: the name cannot be resolved`
          : `${here}: this machine has no such address`,
        "bindAddress",
        hostname,
        "set bindAddress to 0.0.0.0 or to an address of this machine",
        options,
      );
    case "EADDRINUSE":
      return new BrokerStartError(
        `${here}: the port is in use`,
        key,
        String(value),
        `stop the program that holds it, or set ${key} to another port ` +
          "(listenPort-2 and listenPort+1 must be free too)",
        options,
      );
    case "EACCES":
      return new BrokerStartError(
        `${here}: the system does not permit it`,
        key,
        String(value),
        `set ${key} to a port above 1025`,
        options,
      );
    default:
      return new BrokerStartError(
        error instanceof Error ? error.message : `${here}: ${error}`,
        key,
        String(value),
        `set ${key} or bindAddress to another value`,
        options,
      );
  }
}
