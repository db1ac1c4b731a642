/** TlsNetwork: a Network of which every connection is encrypted, for the contract of Network. */
import type { Clock } from "../../src/io/clock.ts";
import type {
  Connection,
  ConnectionEvents,
  Endpoint,
  Listener,
  Network,
} from "../../src/io/network.ts";
import type { TlsContext } from "../../src/io/tls.ts";
import { secureConnect } from "../../src/remoting/entrance/secure_connect.ts";

const HANDSHAKE_MAX_MS = 10_000;

export class TlsNetwork implements Network {
  readonly #network: Network;
  readonly #server: TlsContext;
  readonly #client: TlsContext;
  readonly #clock: Clock;

  constructor(
    { clock, network }: { readonly clock: Clock; readonly network: Network },
    server: TlsContext,
    client: TlsContext,
  ) {
    this.#clock = clock;
    this.#network = network;
    this.#server = server;
    this.#client = client;
  }

  listen(
    at: Endpoint,
    accept: (connection: Connection) => ConnectionEvents,
  ): Promise<Listener> {
    return this.#network.listen(at, (plain) => {
      let events: ConnectionEvents | null = null;
      const secured = this.#server.secure(plain, {
        onData: (bytes) => events?.onData(bytes),
        onDrain: () => events?.onDrain(),
        onClose: (reason) => events?.onClose(reason),
      }, { onSecured() {}, onFailed() {} });
      try {
        events = accept(secured);
      } catch (error) {
        secured.terminate();
        throw error;
      }
      return secured.plainEvents;
    });
  }

  /** Resolves once the handshake is through. */
  connect(to: Endpoint, events: ConnectionEvents): Promise<Connection> {
    const [clock, network] = [this.#clock, this.#network];
    const tls = { context: () => this.#client };
    return secureConnect({ clock, network, tls }, to, events, HANDSHAKE_MAX_MS);
  }
}
