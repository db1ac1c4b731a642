/** secureConnect: a connection of ours whose TLS handshake is through. */
import type { Clock } from "../../io/clock.ts";
import type {
  Connection,
  ConnectionEvents,
  Endpoint,
  Network,
} from "../../io/network.ts";
import type { SecuredConnection } from "../../io/tls.ts";
import type { TlsSource } from "./tls_ports.ts";

/** What it needs. */
export interface SecureConnectPorts {
  readonly network: Network;
  readonly clock: Clock;
  readonly tls: TlsSource;
}

/**
 * Connects and encrypts, both within `timeoutMs`. `events` begin once it resolves; rejects as
 * `Network.connect`, and with an Error that says why the handshake failed. A connection that is
 * given up is ended.
 */
export async function secureConnect(
  { clock, network, tls }: SecureConnectPorts,
  to: Endpoint,
  events: ConnectionEvents,
  timeoutMs: number,
): Promise<Connection> {
  const context = await tls.context();
  const secure = Promise.withResolvers<void>();
  let isOpen = false;
  let secured: SecuredConnection | null = null;
  const plain = await network.connect(to, {
    onData: (bytes) => secured?.plainEvents.onData(bytes),
    onDrain: () => secured?.plainEvents.onDrain(),
    onClose: (reason) => {
      if (secured !== null) secured.plainEvents.onClose(reason);
      else secure.reject(new Error("the peer closed the connection"));
    },
  });
  secured = context.secure(plain, {
    onData: (bytes) => events.onData(bytes),
    onDrain: () => isOpen && events.onDrain(),
    onClose: (reason) => {
      if (isOpen) events.onClose(reason);
      else {secure.reject(
          new Error(`it closed the TLS handshake${because(reason)}`),
        );}
    },
  }, {
    onSecured: () => {
      isOpen = true;
      secure.resolve();
    },
    onFailed: (why) =>
      secure.reject(new Error(`the TLS handshake failed: ${why}`)),
  });
  const timer = clock.after(timeoutMs, () => {
    secure.reject(new Error("the TLS handshake timed out"));
    plain.terminate();
  });
  try {
    await secure.promise;
    return secured;
  } finally {
    timer.cancel();
  }
}

function because(reason: string | null): string {
  return reason === null ? "" : ` (${reason})`;
}
