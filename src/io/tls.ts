/** Tls: encrypts connections. Certificates and keys come as PEM text: files are the caller's. */
import type { Connection, ConnectionEvents } from "./network.ts";

/** Who one end is. */
export interface TlsIdentity {
  /** The certificate, and those that lead from it to a trusted one. */
  readonly certificate: string;
  readonly key: string;
  /** Of an encrypted key; else empty. */
  readonly keyPassword: string;
}

/** What a server shows and asks for. */
export interface TlsServerSettings {
  /** Null: a certificate that nobody signed is made now. */
  readonly identity: TlsIdentity | null;
  readonly clientAuth: "none" | "optional" | "require";
  /** Who may have signed a client's certificate; null: anybody. */
  readonly clientTrust: string | null;
}

/** What a client shows and asks for. */
export interface TlsClientSettings {
  /** Null: it shows none. */
  readonly identity: TlsIdentity | null;
  /** False: any certificate will do. Names in certificates are never compared with addresses. */
  readonly verifiesServer: boolean;
  /** Who may have signed the server's certificate; null: whom the runtime trusts. */
  readonly serverTrust: string | null;
}

/** Certificates and keys that cannot be used. */
export class TlsError extends Error {
  override readonly name = "TlsError";
  constructor(
    /** Which of them. */
    readonly part: "certificate" | "key" | "trust",
    message: string,
  ) {
    super(message);
  }
}

/** How a handshake ended: one of both, at most once. */
export interface HandshakeEvents {
  onSecured(): void;
  /** Bytes that are no handshake, or a peer that is not accepted; the connection ends by itself. */
  onFailed(reason: string): void;
}

/** The encrypted side of a connection. */
export interface SecuredConnection extends Connection {
  /** Must be told what happens on the plain one. */
  readonly plainEvents: ConnectionEvents;
}

/** Settings that were read and found usable. */
export interface TlsContext {
  /**
   * Encrypts `plain` from here on; `events` are told of the decrypted side, `onClose` also when
   * there never was one. What is written before the handshake has ended goes out after it, unless
   * it is closed before, too.
   */
  secure(
    plain: Connection,
    events: ConnectionEvents,
    handshake: HandshakeEvents,
  ): SecuredConnection;
}

/** Reads settings. Both throw TlsError. */
export interface Tls {
  openServer(settings: TlsServerSettings): TlsContext;
  openClient(settings: TlsClientSettings): TlsContext;
}
