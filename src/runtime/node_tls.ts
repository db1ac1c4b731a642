/** NodeTls: the Tls port over node:tls, which Bun and Deno both have; loaded when first needed. */
import {
  connect,
  createSecureContext,
  type SecureContextOptions,
  TLSSocket,
} from "node:tls";
import { createPrivateKey, X509Certificate } from "node:crypto";
import {
  type Tls,
  type TlsClientSettings,
  type TlsContext,
  TlsError,
  type TlsIdentity,
  type TlsServerSettings,
} from "../io/tls.ts";
import { PlainPipe } from "./plain_pipe.ts";
import { TlsConnection, type TlsStart } from "./tls_connection.ts";
import { signIdentity } from "./x509.ts";

/** Encrypts by the runtime's own TLS. */
export class NodeTls implements Tls {
  openServer(settings: TlsServerSettings): TlsContext {
    const { clientAuth, clientTrust } = settings;
    const options = {
      ...optionsOf(settings.identity ?? signIdentity("localhost", Date.now())),
      ...trustOf(clientTrust),
    };
    const secureContext = createSecureContext(options);
    return contextOf({
      securedEvent: "secure",
      open: (pipe) =>
        new TLSSocket(pipe, {
          ...options,
          secureContext,
          isServer: true,
          requestCert: clientAuth !== "none",
          // Judged below: neither runtime refuses all that it should by itself.
          rejectUnauthorized: false,
        }),
      refusalOf: (socket) => {
        if (clientAuth === "none") return null;
        if (!showsCertificate(socket)) {
          return clientAuth === "require" ? "it shows no certificate" : null;
        }
        if (clientTrust === null) return null;
        return isUnverifiable(socket) ? VERSION_1 : verifyErrorOf(socket);
      },
    });
  }

  openClient(settings: TlsClientSettings): TlsContext {
    const { identity, serverTrust, verifiesServer } = settings;
    const options = {
      ...(identity === null ? {} : optionsOf(identity)),
      ...trustOf(serverTrust),
    };
    const secureContext = createSecureContext(options);
    return contextOf({
      securedEvent: "secureConnect",
      open: (pipe) =>
        connect({
          ...options,
          secureContext,
          socket: pipe,
          rejectUnauthorized: verifiesServer,
          checkServerIdentity: () => undefined,
        }),
      refusalOf: (socket) =>
        verifiesServer && isUnverifiable(socket) ? VERSION_1 : null,
    });
  }
}

function contextOf(start: TlsStart): TlsContext {
  return {
    secure: (plain, events, handshake) =>
      new TlsConnection(plain, new PlainPipe(plain), start, events, handshake),
  };
}

/** Throws TlsError. */
function optionsOf(identity: TlsIdentity): SecureContextOptions {
  const { certificate, key, keyPassword } = identity;
  const first = certificatesOf(certificate, "certificate")[0]!;
  const parsed = keyOf(key, keyPassword);
  if (!first.checkPrivateKey(parsed)) {
    throw new TlsError("key", "it does not belong to the certificate");
  }
  // Decrypted here: not every TLS of the runtimes takes an encrypted one.
  const plainKey = parsed.export({ type: "pkcs8", format: "pem" });
  return { cert: certificate, key: plainKey };
}

function trustOf(trust: string | null): SecureContextOptions {
  if (trust === null) return {};
  certificatesOf(trust, "trust");
  return { ca: pemBlocks(trust) };
}

function pemBlocks(text: string): string[] {
  return text.match(
    /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g,
  ) ?? [];
}

function certificatesOf(
  text: string,
  part: "certificate" | "trust",
): X509Certificate[] {
  const blocks = pemBlocks(text);
  if (blocks.length === 0) {
    throw new TlsError(part, "it holds no certificate in PEM");
  }
  try {
    return blocks.map((it) => new X509Certificate(it));
  } catch (error) {
    throw new TlsError(part, `it is no certificate (${messageOf(error)})`);
  }
}

function keyOf(pem: string, passphrase: string) {
  const isEncrypted = pem.includes("ENCRYPTED");
  if (isEncrypted && passphrase === "") {
    throw new TlsError("key", "it is encrypted, and no password is given");
  }
  try {
    return createPrivateKey(
      isEncrypted ? { key: pem, passphrase } : { key: pem },
    );
  } catch (error) {
    const why = messageOf(error);
    throw new TlsError(
      "key",
      isEncrypted
        ? `the password does not open it (${why})`
        : `it is no private key in PEM (${why})`,
    );
  }
}

function showsCertificate(socket: TLSSocket): boolean {
  return Object.keys(socket.getPeerCertificate() ?? {}).length > 0;
}

/** Bun tells on the socket, Deno below it only; where neither tells, nobody comes in. */
function verifyErrorOf(socket: TLSSocket): string | null {
  if (socket.authorized) return null;
  // Empty: the certificate was looked at, and nothing is wrong with it.
  const error: unknown = socket.authorizationError ?? lowerErrorOf(socket);
  return error === "" || error === null || error === undefined
    ? null
    : `its certificate is not trusted (${messageOf(error)})`;
}

function lowerErrorOf(socket: TLSSocket): unknown {
  const { _handle: handle } = socket as {
    _handle?: { verifyError?(): unknown };
  };
  return typeof handle?.verifyError === "function"
    ? handle.verifyError()
    : "it cannot be verified";
}

/**
 * Deno takes a certificate of X.509 version 1 for its own word: it verifies neither who signed
 * it nor that the peer has its key. In later versions the first field has the tag A0.
 */
function isUnverifiable(socket: TLSSocket): boolean {
  if (!("Deno" in globalThis)) return false;
  const { raw } = socket.getPeerCertificate();
  const tbs = contentOf(raw, 0);
  return raw[contentOf(raw, tbs)] !== 0xa0;
}

/** Where the content of the DER value at `position` begins. */
function contentOf(bytes: Uint8Array, position: number): number {
  const length = bytes[position + 1]!;
  return position + 2 + (length < 0x80 ? 0 : length & 0x7f);
}

const VERSION_1 =
  "its certificate is of X.509 version 1, which Deno cannot verify";

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
