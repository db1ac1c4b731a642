/**
 * ClientTable: the clients of many groups, found by group and by connection.
 *
 * A client is named by its id: a heartbeat on a new connection replaces the
 * old one, which NAT or an idle drop may have left half open, so no group
 * counts a client twice.
 */
import type { RemotingConnection } from "../remoting/request_processor.ts";
import type { ClientChannelInfo } from "./client_channel_info.ts";

/** One client of one group. */
export interface GroupClient {
  readonly group: string;
  readonly client: ClientChannelInfo;
}

/** What `ClientTable.put` did. */
export type PutClientResult = "new" | "replaced" | "refreshed" | "full";

/** Clients by group and id. */
export class ClientTable {
  readonly #groups = new Map<string, Map<string, ClientChannelInfo>>();
  /** Which (group, client id) pairs live on a connection. */
  readonly #byConnection = new Map<
    RemotingConnection,
    Map<string, Set<string>>
  >();
  #size = 0;

  /** Pairs of group and client. */
  get size(): number {
    return this.#size;
  }

  groups(): ReadonlyMap<string, ReadonlyMap<string, ClientChannelInfo>> {
    return this.#groups;
  }

  clients(group: string): ReadonlyMap<string, ClientChannelInfo> | undefined {
    return this.#groups.get(group);
  }

  /** True while the client is in any group on its connection. */
  hasClient(client: ClientChannelInfo): boolean {
    const groups = this.#byConnection.get(client.connection);
    for (const ids of groups?.values() ?? []) {
      if (ids.has(client.clientId)) return true;
    }
    return false;
  }

  /** Adds or refreshes a client; refuses new ones at `sizeMax` pairs. */
  put(
    group: string,
    client: ClientChannelInfo,
    sizeMax: number,
  ): PutClientResult {
    let clients = this.#groups.get(group);
    const present = clients?.get(client.clientId);
    if (present?.connection === client.connection) {
      present.lastUpdateTimestamp = client.lastUpdateTimestamp;
      present.lastUpdateMs = client.lastUpdateMs;
      return "refreshed";
    }
    if (present !== undefined) {
      this.#unlink(group, present);
    } else {
      if (this.#size >= sizeMax) return "full";
      this.#size++;
    }
    if (clients === undefined) this.#groups.set(group, clients = new Map());
    clients.set(client.clientId, client);
    this.#link(group, client);
    return present === undefined ? "new" : "replaced";
  }

  /** Removes a client, but not one that meanwhile lives on another connection. */
  remove(
    group: string,
    clientId: string,
    connection: RemotingConnection,
  ): boolean {
    const clients = this.#groups.get(group);
    const client = clients?.get(clientId);
    if (clients === undefined || client?.connection !== connection) {
      return false;
    }
    clients.delete(clientId);
    if (clients.size === 0) this.#groups.delete(group);
    this.#unlink(group, client);
    this.#size--;
    return true;
  }

  /** Removes everything of a connection. */
  removeConnection(connection: RemotingConnection): GroupClient[] {
    const removed: GroupClient[] = [];
    for (const [group, ids] of this.#byConnection.get(connection) ?? []) {
      for (const clientId of [...ids]) {
        const client = this.#groups.get(group)?.get(clientId);
        if (client && this.remove(group, clientId, connection)) {
          removed.push({ group, client });
        }
      }
    }
    return removed;
  }

  /** The clients without a heartbeat since `beforeMs`, monotonic. */
  expired(beforeMs: number): GroupClient[] {
    const expired: GroupClient[] = [];
    for (const [group, clients] of this.#groups) {
      for (const client of clients.values()) {
        if (client.lastUpdateMs < beforeMs) {
          expired.push({ group, client });
        }
      }
    }
    return expired;
  }

  #link(group: string, client: ClientChannelInfo): void {
    let groups = this.#byConnection.get(client.connection);
    if (groups === undefined) {
      this.#byConnection.set(client.connection, groups = new Map());
    }
    let ids = groups.get(group);
    if (ids === undefined) groups.set(group, ids = new Set());
    ids.add(client.clientId);
  }

  #unlink(group: string, client: ClientChannelInfo): void {
    const groups = this.#byConnection.get(client.connection);
    const ids = groups?.get(group);
    ids?.delete(client.clientId);
    if (ids?.size === 0) groups?.delete(group);
    if (groups?.size === 0) this.#byConnection.delete(client.connection);
  }
}
