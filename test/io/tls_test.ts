// Who is let in by TLS, and what does not count as a handshake, on the runtime's own TLS.
import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { createPrivateKey } from "node:crypto";
import { connect } from "node:net";
import { describe, it } from "node:test";
import {
  type TlsClientSettings,
  TlsError,
  type TlsServerSettings,
} from "../../src/io/tls.ts";
import { signIdentity } from "../../src/runtime/x509.ts";
import { withoutOpenSockets } from "../support/leak_check.ts";
import {
  type NetworkRig,
  Recorder,
  runtimeRig,
} from "../support/network_rig.ts";
import { TlsNetwork } from "../support/tls_network.ts";
import { openRuntime } from "#runtime";

const NOW_MS = Date.now();
const authority = signIdentity("authority", NOW_MS);
const server = signIdentity("server", NOW_MS, authority);
const client = signIdentity("client", NOW_MS, authority);
const stranger = signIdentity("stranger", NOW_MS);
const { clock, openTls } = openRuntime();
const tls = await openTls();

const ANY_SERVER: TlsClientSettings = {
  identity: null,
  verifiesServer: false,
  serverTrust: null,
};
const ANY_CLIENT: TlsServerSettings = {
  identity: server,
  clientAuth: "none",
  clientTrust: null,
};
const REQUIRED: TlsServerSettings = {
  identity: server,
  clientAuth: "require",
  clientTrust: authority.certificate,
};

/** "echoed" when bytes went to and fro, else "refused". */
async function talk(
  rig: NetworkRig,
  serverSide: TlsServerSettings,
  clientSide: TlsClientSettings,
): Promise<string> {
  const network = new TlsNetwork(
    { clock, network: rig.network },
    tls.openServer(serverSide),
    tls.openClient(clientSide),
  );
  const listener = await network.listen(
    { hostname: rig.hostname, port: 0 },
    (connection) => {
      const recorder = new Recorder();
      recorder.onData = (bytes) => void connection.write(bytes);
      return recorder;
    },
  );
  const recorder = new Recorder();
  const at = { hostname: rig.hostname, port: listener.port };
  try {
    const connection = await network.connect(at, recorder);
    connection.write(new Uint8Array(9));
    await rig.until(() =>
      recorder.received === 9 || recorder.reasons.length > 0
    );
    return recorder.received === 9 ? "echoed" : "refused";
  } catch {
    return "refused";
  } finally {
    await listener.close();
  }
}

const CASES: readonly [string, TlsServerSettings, TlsClientSettings, string][] =
  [
    [
      "a certificate that nobody signed",
      { ...ANY_CLIENT, identity: null },
      ANY_SERVER,
      "echoed",
    ],
    ["a server whose authority is trusted", ANY_CLIENT, {
      ...ANY_SERVER,
      verifiesServer: true,
      serverTrust: authority.certificate,
    }, "echoed"],
    ["a server that nobody trusts", ANY_CLIENT, {
      ...ANY_SERVER,
      verifiesServer: true,
      serverTrust: stranger.certificate,
    }, "refused"],
    ["a client with a trusted certificate", REQUIRED, {
      ...ANY_SERVER,
      identity: client,
    }, "echoed"],
    ["a client without one", REQUIRED, ANY_SERVER, "refused"],
    ["a client with a stranger's", REQUIRED, {
      ...ANY_SERVER,
      identity: stranger,
    }, "refused"],
    [
      "any certificate, where none is verified",
      { ...REQUIRED, clientTrust: null },
      { ...ANY_SERVER, identity: stranger },
      "echoed",
    ],
    [
      "none, where one is required and none is verified",
      { ...REQUIRED, clientTrust: null },
      ANY_SERVER,
      "refused",
    ],
    [
      "none, where one is optional",
      { ...REQUIRED, clientAuth: "optional" },
      ANY_SERVER,
      "echoed",
    ],
    [
      "a stranger's, where one is optional",
      { ...REQUIRED, clientAuth: "optional" },
      { ...ANY_SERVER, identity: stranger },
      "refused",
    ],
    [
      "a trusted one, where one is optional",
      { ...REQUIRED, clientAuth: "optional" },
      { ...ANY_SERVER, identity: client },
      "echoed",
    ],
  ];

describe("Tls", () => {
  for (const [title, serverSide, clientSide, expected] of CASES) {
    it(`${expected}: ${title}`, async () => {
      const rig = runtimeRig();
      await withoutOpenSockets(rig.hostname, async () => {
        assertEquals(await talk(rig, serverSide, clientSide), expected);
      });
    });
  }

  it("says that bytes are no handshake, once, and ends", async () => {
    const rig = runtimeRig();
    await withoutOpenSockets(rig.hostname, async () => {
      const failures: string[] = [];
      const recorder = new Recorder();
      const context = tls.openServer(ANY_CLIENT);
      const listener = await rig.network.listen(
        { hostname: rig.hostname, port: 0 },
        (plain) =>
          context.secure(plain, recorder, {
            onSecured: () => failures.push("secured"),
            onFailed: (reason) => failures.push(reason),
          }).plainEvents,
      );
      const socket = connect(listener.port, rig.hostname);
      socket.on("error", () => {});
      socket.write(new Uint8Array(300).fill(0x16));
      await rig.until(() => recorder.reasons.length > 0);
      assertEquals(failures.length, 1);
      assertEquals(failures.includes("secured"), false);
      socket.destroy();
      await listener.close();
    });
  });

  it("ends when the peer goes in the middle of its hello, without a word", async () => {
    const rig = runtimeRig();
    await withoutOpenSockets(rig.hostname, async () => {
      const failures: string[] = [];
      const recorder = new Recorder();
      const context = tls.openServer(ANY_CLIENT);
      const listener = await rig.network.listen(
        { hostname: rig.hostname, port: 0 },
        (plain) =>
          context.secure(plain, recorder, {
            onSecured: () => failures.push("secured"),
            onFailed: (reason) => failures.push(reason),
          }).plainEvents,
      );
      const socket = connect(listener.port, rig.hostname);
      socket.on("error", () => {});
      socket.write(new Uint8Array([0x16, 3, 1, 2, 0, 1, 0]), () => {
        socket.destroy();
      });
      await rig.until(() => recorder.reasons.length > 0);
      assertEquals(failures, []);
      await listener.close();
    });
  });

  it("names what is wrong with a key or certificate", () => {
    const withIdentity = (change: object) => () =>
      tls.openServer({
        ...ANY_CLIENT,
        identity: { ...server, ...change },
      });
    const wrong = (change: object, part: string, sentence: string) => {
      const error = assertThrows(withIdentity(change), TlsError);
      assertEquals(error.part, part);
      assertStringIncludes(error.message, sentence);
    };
    wrong({ key: stranger.key }, "key", "does not belong to the certificate");
    wrong({ key: "no key" }, "key", "no private key in PEM");
    wrong({ certificate: "nothing" }, "certificate", "no certificate in PEM");
    wrong(
      { certificate: server.certificate.replace(/[A-Z]{4}/, "####") },
      "certificate",
      "certificate",
    );
    const key = createPrivateKey(server.key).export({
      type: "pkcs8",
      format: "pem",
      cipher: "aes-256-cbc",
      passphrase: "sesame",
    });
    wrong({ key }, "key", "no password is given");
    wrong({ key, keyPassword: "open" }, "key", "does not open it");
    withIdentity({ key, keyPassword: "sesame" })();
    assertThrows(
      () => tls.openClient({ ...ANY_SERVER, serverTrust: "" }),
      TlsError,
    );
  });
});
