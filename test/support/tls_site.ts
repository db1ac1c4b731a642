/** Certificates of one test, and connections that use them. */
import { writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { type SignedIdentity, signIdentity } from "../../src/runtime/x509.ts";

/** An authority's folder: `ca.pem`, and a pair of files for everybody it signs. */
export class TestAuthority {
  readonly folder: string;
  readonly #authority: SignedIdentity;

  constructor(folder: string) {
    this.folder = folder;
    this.#authority = signIdentity("authority", Date.now());
    writeFileSync(this.trust, this.#authority.certificate);
  }

  get trust(): string {
    return `${this.folder}/ca.pem`;
  }

  sign(commonName: string): SignedIdentity {
    return signIdentity(commonName, Date.now(), this.#authority);
  }

  /** Writes `name.key` and `name.pem`. */
  write(name: string, identity: SignedIdentity = this.sign(name)): void {
    writeFileSync(`${this.folder}/${name}.key`, identity.key);
    writeFileSync(`${this.folder}/${name}.pem`, identity.certificate);
  }

  /** Settings of a server that takes TLS of clients signed here only, and of its own requests. */
  enforcing(name: string): string[] {
    return [
      "tls.server.mode=enforcing",
      ...this.#identity("server", name),
      "tls.server.need.client.auth=require",
      "tls.server.authClient=true",
      `tls.server.trustCertPath=${this.trust}`,
      ...this.client(name),
    ];
  }

  /** Settings of a client that verifies servers. */
  client(name: string): string[] {
    return [
      ...this.#identity("client", name),
      "tls.client.authServer=true",
      `tls.client.trustCertPath=${this.trust}`,
    ];
  }

  #identity(side: string, name: string): string[] {
    return [
      `tls.${side}.keyPath=${this.folder}/${name}.key`,
      `tls.${side}.certPath=${this.folder}/${name}.pem`,
    ];
  }
}

/** `--set` for each. */
export function settingsOf(settings: readonly string[]): string[] {
  return settings.flatMap((it) => ["--set", it]);
}

/** Connects; `first` goes out before anything else. */
export function dial(address: string, first?: Uint8Array): Promise<Socket> {
  const [host, port] = address.split(":");
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), host!, () => {
      if (first !== undefined) socket.write(first);
      resolve(socket);
    });
    socket.on("error", reject);
  });
}

/** Connects and encrypts, as `identity` where there is one; trusts every server. */
export async function dialTls(
  address: string,
  { first, identity }: { first?: Uint8Array; identity?: SignedIdentity } = {},
): Promise<TLSSocket> {
  const socket = await dial(address, first);
  return await new Promise((resolve, reject) => {
    const secured = connectTls({
      socket,
      rejectUnauthorized: false,
      ...(identity && { key: identity.key, cert: identity.certificate }),
    }, () => resolve(secured));
    secured.on("error", reject);
    secured.on("close", () => reject(new Error("closed in the handshake")));
  });
}
