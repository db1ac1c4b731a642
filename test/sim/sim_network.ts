/**
 * SimNetwork: hosts with addresses, and links between them that can be slow,
 * thin, cut or silent. Everything happens in the moments of one clock.
 */
import { parseIpAddress } from "../../src/model/socket_address.ts";
import type { Clock } from "../../src/io/clock.ts";
import type {
  Connection,
  ConnectionEvents,
  Endpoint,
  Listener,
  Network,
} from "../../src/io/network.ts";
import {
  addressText,
  connectError,
  listenError,
} from "../../src/runtime/address.ts";
import { SimConnection } from "./sim_connection.ts";
import { SimLink } from "./sim_link.ts";

const FIRST_FREE_PORT = 40_000;

const EVERY_ADDRESS = new Set(["0.0.0.0", "::"]);
const OWN_ADDRESS = new Set(["127.0.0.1", "localhost", "::1"]);

type Accept = (connection: Connection) => ConnectionEvents;

interface Established {
  readonly hosts: readonly [string, string];
  readonly ends: readonly [SimConnection, SimConnection];
}

/** The network of one simulation; `host` gives what one process sees of it. */
export class SimNetwork {
  readonly #clock: Clock;
  readonly #links = new Map<string, SimLink>();
  readonly #listeners = new Map<string, Accept>();
  readonly #cuts = new Set<string>();
  readonly #dark = new Set<string>();
  #established: Established[] = [];
  #lastPort = FIRST_FREE_PORT;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The Network port of the host with this address. */
  host(address: string): Network {
    return {
      listen: (at, accept) => this.#listen(address, at, accept),
      connect: (to, events) => this.#connect(address, to, events),
    };
  }

  /** The way from one host to another; the way back is another link. */
  link(from: string, to: string): SimLink {
    const key = `${from} ${to}`;
    let link = this.#links.get(key);
    if (!link) this.#links.set(key, link = new SimLink(this.#clock));
    return link;
  }

  /** Both directions: bytes are held, nobody is told. */
  partition(one: string, other: string): void {
    this.link(one, other).blackhole();
    this.link(other, one).blackhole();
  }

  /** Resets every connection between both and refuses new ones. */
  cut(one: string, other: string): void {
    this.#cuts.add(`${one} ${other}`).add(`${other} ${one}`);
    const isBetween = ({ hosts }: Established) =>
      hosts.includes(one) && hosts.includes(other);
    for (const { ends } of this.#take(isBetween)) {
      for (const it of ends) it.end("ECONNRESET");
    }
  }

  /** True while connections between both are refused. */
  isCut(one: string, other: string): boolean {
    return this.#cuts.has(`${one} ${other}`);
  }

  /** Undoes `partition` and `cut`. */
  heal(one: string, other: string): void {
    this.#cuts.delete(`${one} ${other}`);
    this.#cuts.delete(`${other} ${one}`);
    this.link(one, other).heal();
    this.link(other, one).heal();
  }

  /** kill -9: ports are free, peers see resets, the process sees nothing. */
  kill(host: string): void {
    this.#end(host, (own) => own.terminate());
  }

  /** The power goes: peers see nothing either, until the host listens again. */
  powerOff(host: string): void {
    this.#dark.add(host);
    this.#end(host, () => {});
  }

  #end(host: string, tell: (own: SimConnection) => void): void {
    for (const key of [...this.#listeners.keys()]) {
      if (key.startsWith(`${host} `)) this.#listeners.delete(key);
    }
    for (
      const { hosts, ends } of this.#take((it) => it.hosts.includes(host))
    ) {
      for (const [index, end] of ends.entries()) {
        if (hosts[index] !== host) continue;
        tell(end);
        end.die();
      }
    }
  }

  #listen(host: string, at: Endpoint, accept: Accept): Promise<Listener> {
    const port = at.port || ++this.#lastPort;
    const key = `${host} ${port}`;
    if (this.#listeners.has(key)) {
      return Promise.reject(listenError(at, "EADDRINUSE", null));
    }
    const isOurs = EVERY_ADDRESS.has(at.hostname) ||
      OWN_ADDRESS.has(at.hostname) || at.hostname === host;
    if (!isOurs) {
      const isName = parseIpAddress(at.hostname) === undefined;
      const code = isName ? "ENOTFOUND" : "EADDRNOTAVAIL";
      return Promise.reject(listenError(at, code, null));
    }
    this.#listeners.set(key, accept);
    this.#dark.delete(host);
    return Promise.resolve({
      hostname: at.hostname,
      port,
      close: () => {
        if (this.#listeners.get(key) === accept) this.#listeners.delete(key);
        const isHere = ({ ends }: Established) =>
          ends[1].localAddress === addressText(host, port);
        for (const { ends } of this.#take(isHere)) ends[1].terminate();
        return Promise.resolve();
      },
    });
  }

  async #connect(
    from: string,
    to: Endpoint,
    events: ConnectionEvents,
  ): Promise<Connection> {
    const target = OWN_ADDRESS.has(to.hostname) ? from : to.hostname;
    const [there, back] = [this.link(from, target), this.link(target, from)];
    await new Promise<void>((resolve) => there.send(0, resolve));
    if (this.#cuts.has(`${from} ${target}`)) {
      throw connectError(to, "EHOSTUNREACH", null);
    }
    if (this.#dark.has(target)) await new Promise(() => {}); // Nobody answers.
    const accept = this.#listeners.get(`${target} ${to.port}`);
    if (!accept) {
      await new Promise<void>((resolve) => back.send(0, resolve));
      throw connectError(to, "ECONNREFUSED", null);
    }
    const local = addressText(from, ++this.#lastPort);
    const remote = addressText(target, to.port);
    const client = new SimConnection(this.#clock, there, local, remote);
    const server = new SimConnection(this.#clock, back, remote, local);
    SimConnection.join(client, server);
    client.attach(events);
    this.#established = this.#established
      .filter(({ ends }) => ends.some((it) => !it.isClosed));
    this.#established.push({ hosts: [from, target], ends: [client, server] });
    try {
      server.attach(accept(server));
    } catch {
      server.terminate();
    }
    await new Promise<void>((resolve) => back.send(0, resolve));
    return client;
  }

  /** Removes and returns the connections for which `isWanted` holds. */
  #take(isWanted: (it: Established) => boolean): Established[] {
    const taken = this.#established.filter(isWanted);
    this.#established = this.#established.filter((it) => !isWanted(it));
    return taken;
  }
}
