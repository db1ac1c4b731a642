/**
 * Entrance: what an accepted connection brings before its first frame.
 *
 * In this order, each once at most: a PROXY header, where the peer may send one; a TLS
 * handshake, which begins with 0x16. A frame of the remoting protocol begins with a length
 * below 256 MiB, so that its first byte is neither.
 *
 * Invariants
 * - What is decided stays: afterwards events go to the channel or to the encryption.
 * - Bytes held here are less than one PROXY header and one read.
 */
import type { Connection, ConnectionEvents } from "../../io/network.ts";
import type { TlsContext } from "../../io/tls.ts";
import type { AddressBlocks } from "../../model/address_blocks.ts";
import {
  ProxyHeaderError,
  readProxyHeader,
} from "../../protocol/proxy_header.ts";
import type { ServerTls } from "./tls_ports.ts";

const TLS_HANDSHAKE = 0x16;
const NOTHING = new Uint8Array(0);

/** The connection's channel. */
export interface EnteringChannel extends ConnectionEvents {
  readonly isOpen: boolean;
  attach(connection: Connection): void;
  proxyFor(remoteAddress: string): void;
  enter(what: string | null): void;
  reject(kind: string, why: string): void;
  terminate(): void;
}

/** What a server lets in. */
export interface EntranceRules {
  readonly tls: ServerTls | null;
  /** Who may send a PROXY header. */
  readonly proxyPeers: AddressBlocks;
}

/** One connection; stands between it and its channel. */
export class Entrance implements ConnectionEvents {
  readonly #connection: Connection;
  readonly #channel: EnteringChannel;
  readonly #tls: ServerTls | null;
  #mayBeProxied: boolean;
  /** Null while nothing is decided. */
  #next: ConnectionEvents | null = null;
  #isWaitingForContext = false;
  #held: Uint8Array = NOTHING;

  constructor(
    connection: Connection,
    channel: EnteringChannel,
    { proxyPeers, tls }: EntranceRules,
  ) {
    this.#connection = connection;
    this.#channel = channel;
    this.#tls = tls;
    this.#mayBeProxied = proxyPeers.has(hostOf(connection.remoteAddress));
  }

  onData(bytes: Uint8Array): void {
    if (this.#next !== null) return this.#next.onData(bytes);
    const all = joined(this.#held, bytes);
    this.#held = NOTHING;
    if (this.#isWaitingForContext) this.#held = all.slice();
    else this.#decide(all);
  }

  onDrain(): void {
    (this.#next ?? this.#channel).onDrain();
  }

  onClose(reason: string | null): void {
    (this.#next ?? this.#channel).onClose(reason);
  }

  #decide(bytes: Uint8Array): void {
    const rest = this.#mayBeProxied ? this.#withoutProxyHeader(bytes) : bytes;
    if (rest === null || rest.length === 0) return;
    if (rest[0] === TLS_HANDSHAKE && this.#tls !== null) {
      return this.#secure(rest);
    }
    if (this.#tls?.isEnforced) {
      this.#refuse(
        "plain",
        "it does not begin with a TLS handshake, as tls.server.mode=enforcing asks for",
      );
      return;
    }
    this.#next = this.#channel;
    this.#channel.onData(rest);
  }

  /** The bytes behind the header, or all when there is none; null while it is incomplete. */
  #withoutProxyHeader(bytes: Uint8Array): Uint8Array | null {
    try {
      const header = readProxyHeader(bytes);
      if (header.kind === "more") {
        this.#held = bytes.slice();
        this.#channel.enter("PROXY header");
        return null;
      }
      this.#mayBeProxied = false;
      this.#channel.enter(null);
      if (header.kind === "none") return bytes;
      if (header.source !== null) this.#channel.proxyFor(header.source);
      return bytes.subarray(header.size);
    } catch (error) {
      if (!(error instanceof ProxyHeaderError)) throw error;
      this.#refuse("proxy", `its PROXY header is broken: ${error.message}`);
      return null;
    }
  }

  #secure(first: Uint8Array): void {
    this.#channel.enter("TLS handshake");
    const context = this.#tls!.context();
    if (!(context instanceof Promise)) return this.#begin(context, first);
    this.#isWaitingForContext = true;
    this.#held = first.slice();
    context.then((it) => this.#begin(it, this.#held), (error) => {
      this.#refuse("tls", `TLS cannot be had: ${error}`);
    });
  }

  #begin(context: TlsContext, first: Uint8Array): void {
    if (!this.#channel.isOpen) return;
    this.#held = NOTHING;
    const channel = this.#channel;
    const secured = context.secure(this.#connection, channel, {
      onSecured: () => channel.enter(null),
      onFailed: (why) =>
        channel.reject("tls", `its TLS handshake failed: ${why}`),
    });
    channel.attach(secured);
    this.#next = secured.plainEvents;
    secured.plainEvents.onData(first);
  }

  #refuse(kind: string, why: string): void {
    if (!this.#channel.isOpen) return;
    this.#channel.reject(kind, why);
    this.#channel.terminate();
  }
}

function hostOf(address: string): string {
  return address.slice(0, address.lastIndexOf(":")).replace(
    /^\[(.*)\]$/,
    "$1",
  );
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}
