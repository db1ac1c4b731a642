/** What remoting needs of TLS: contexts, whoever reads the files and whenever they change. */
import type { TlsContext } from "../../io/tls.ts";

/** Reads the context in force; a promise where it is made when first needed. */
export interface TlsSource {
  context(): TlsContext | Promise<TlsContext>;
}

/** TLS of accepted connections; a server without it speaks plain text only. */
export interface ServerTls extends TlsSource {
  /** True: connections that do not begin a handshake are closed. */
  readonly isEnforced: boolean;
}
