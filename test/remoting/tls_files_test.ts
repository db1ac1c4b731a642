import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { rmSync, writeFileSync } from "node:fs";
import { describe, it } from "node:test";
import { type TlsContext, TlsError } from "../../src/io/tls.ts";
import {
  TlsFileError,
  TlsFiles,
} from "../../src/remoting/entrance/tls_files.ts";
import { withTempDirectory } from "../support/temp_directory.ts";
import { ListLogger } from "./remoting_rig.ts";
import { openRuntime } from "#runtime";

/** A context that only remembers of which texts it was made. */
function contextOf(name: string): TlsContext {
  return Object.assign(Object.create(null), { name });
}

function nameOf(context: TlsContext): string {
  return (context as TlsContext & { name: string }).name;
}

interface Rig {
  readonly files: TlsFiles;
  readonly logger: ListLogger;
  write(name: "cert" | "key", text: string): void;
  path(name: string): string;
  /** Looks `count` times, half a second apart. */
  look(count: number): void;
}

function open(folder: string): Rig {
  const logger = new ListLogger();
  const path = (name: string) => `${folder}/${name}.pem`;
  let nowMs = 0;
  let written = 0;
  const rig = {
    logger,
    path,
    // Sizes differ with every write, whatever the file system's clock does.
    write: (name: string, text: string) =>
      writeFileSync(path(name), text + "\n".repeat(++written)),
  };
  rig.write("cert", "a");
  rig.write("key", "a");
  const files = new TlsFiles(
    { fileSystem: openRuntime().fileSystem, logger },
    {
      certificate: { key: "tls.server.certPath", path: path("cert") },
      key: { key: "tls.server.keyPath", path: path("key") },
      trust: { key: "tls.server.trustCertPath", path: "" },
    },
    ({ certificate, key, trust }) => {
      assertEquals(trust, null);
      if (certificate!.trim() !== key!.trim()) {
        throw new TlsError("key", "it does not belong to the certificate");
      }
      return contextOf(key!.trim());
    },
  );
  const look = (count: number) => {
    for (let at = 0; at < count; at++) files.tick(nowMs += 500);
  };
  return { ...rig, files, look };
}

describe("TlsFiles", () => {
  it("takes a new pair, and the last good one stays while it does not fit", () =>
    withTempDirectory((folder) => {
      const { files, look, logger, path, write } = open(folder);
      look(3);
      assertEquals(nameOf(files.context()), "a");
      write("cert", "b");
      look(4);
      assertEquals(nameOf(files.context()), "a");
      assertEquals(logger.lines.length, 1); // Once, not at every look.
      assertStringIncludes(
        logger.lines[0]!.message,
        `Cannot use tls.server.keyPath=${
          path("key")
        }: it does not belong to the certificate; what was read before stays in force`,
      );
      write("key", "b");
      look(2);
      assertEquals(nameOf(files.context()), "b");
    }));

  it("a pair that is written one after the other is no fault", () =>
    withTempDirectory((folder) => {
      const { files, look, logger, write } = open(folder);
      look(1);
      write("key", "c");
      look(1); // Seen, and not read before the next look.
      write("cert", "c");
      look(3);
      assertEquals(nameOf(files.context()), "c");
      assertEquals(logger.lines, []);
    }));

  it("a file that is gone changes nothing but the log", () =>
    withTempDirectory((folder) => {
      const { files, look, logger, path } = open(folder);
      rmSync(path("cert"));
      look(4);
      assertEquals(nameOf(files.context()), "a");
      assertEquals(logger.lines.length, 1);
      assertStringIncludes(logger.lines[0]!.message, "there is no such file");
      files.reload();
      assertEquals(logger.lines.length, 2); // Asked for: said again.
    }));

  it("a start names the file and its key", () =>
    withTempDirectory((folder) => {
      const none = { key: "tls.server.trustCertPath", path: `${folder}/none` };
      const error = assertThrows(
        () =>
          new TlsFiles(
            { fileSystem: openRuntime().fileSystem, logger: new ListLogger() },
            { certificate: none, key: none, trust: none },
            () => contextOf("never"),
          ),
        TlsFileError,
      );
      assertEquals(error.file.key, "tls.server.trustCertPath");
    }));
});
