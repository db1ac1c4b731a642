/** ProducerManager: which producers are connected (reference 11.3). */
import type { Clock } from "../io/clock.ts";
import type { Logger } from "../io/logger.ts";
import type { RemotingConnection } from "../remoting/request_processor.ts";
import type { BrokerOptions } from "./broker_options.ts";
import type { ClientChannelInfo } from "./client_channel_info.ts";
import { ClientTable } from "./client_table.ts";

/** Milliseconds between two scans for silent clients. */
const SCAN_INTERVAL_MS = 10_000;

/** The producers by group. */
export class ProducerManager {
  readonly #logger: Logger;
  readonly #table = new ClientTable();
  /** By client id, for requests that name one. */
  readonly #byClientId = new Map<string, ClientChannelInfo>();
  readonly #nextIndex = new Map<string, number>();
  #options: BrokerOptions;
  #scannedMs: number;

  constructor(
    ports: { readonly clock: Clock; readonly logger: Logger },
    options: BrokerOptions,
  ) {
    this.#logger = ports.logger;
    this.#options = options;
    this.#scannedMs = ports.clock.monotonicMs();
  }

  reconfigure(options: BrokerOptions): void {
    this.#options = options;
  }

  /** Producers by group and client id. */
  groups(): ReadonlyMap<string, ReadonlyMap<string, ClientChannelInfo>> {
    return this.#table.groups();
  }

  /** False at the limit `clientChannelMax`. */
  registerProducer(group: string, client: ClientChannelInfo): boolean {
    const done = this.#table.put(
      group,
      client,
      this.#options.clientChannelMax,
    );
    if (done === "full") return false;
    if (done !== "refreshed") this.#byClientId.set(client.clientId, client);
    return true;
  }

  unregisterProducer(
    group: string,
    clientId: string,
    connection: RemotingConnection,
  ): void {
    const client = this.#table.clients(group)?.get(clientId);
    if (client && this.#table.remove(group, clientId, connection)) {
      this.#forget(group, client);
    }
  }

  /** Forgets what lived on a connection. */
  doChannelCloseEvent(connection: RemotingConnection): void {
    for (const { group, client } of this.#table.removeConnection(connection)) {
      this.#forget(group, client);
    }
  }

  /** A client of the group whose connection is open, in turn. */
  getAvailableClient(group: string): ClientChannelInfo | undefined {
    const clients = this.#table.clients(group);
    if (clients === undefined) return undefined;
    const open = [...clients.values()].filter((it) => it.connection.isOpen);
    const index = this.#nextIndex.get(group) ?? 0;
    this.#nextIndex.set(group, (index + 1) % 1_000_000);
    return open[index % Math.max(1, open.length)];
  }

  findClient(clientId: string): ClientChannelInfo | undefined {
    return this.#byClientId.get(clientId);
  }

  /** Drops clients without a heartbeat for channelExpiredTimeout; `nowMs` is monotonic. */
  tick(nowMs: number): void {
    if (nowMs - this.#scannedMs < SCAN_INTERVAL_MS) return;
    this.#scannedMs = nowMs;
    const beforeMs = nowMs - this.#options.channelExpiredTimeout;
    const expired = this.#table.expired(beforeMs);
    for (const { group, client } of expired) {
      this.#table.remove(group, client.clientId, client.connection);
    }
    for (const { group, client } of expired) {
      this.#logger.warn("a producer was silent too long", {
        group,
        clientId: client.clientId,
        client: client.connection.remoteAddress,
      });
      this.#forget(group, client);
      client.connection.close();
    }
  }

  #forget(group: string, client: ClientChannelInfo): void {
    if (!this.#table.groups().has(group)) this.#nextIndex.delete(group);
    // The id may live on in another group of the same connection.
    const known = this.#byClientId.get(client.clientId);
    if (known?.connection !== client.connection) return;
    if (!this.#table.hasClient(client)) {
      this.#byClientId.delete(client.clientId);
    }
  }
}
