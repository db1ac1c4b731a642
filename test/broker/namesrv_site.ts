/** A name server of a test's own. */
import { NamesrvController } from "../../src/namesrv/namesrv_controller.ts";
import { DEFAULT_NAMESRV_OPTIONS } from "../../src/namesrv/namesrv_options.ts";
import { DEFAULT_REMOTING_SERVER_OPTIONS } from "../../src/remoting/remoting_options.ts";
import { JsonFile } from "../../src/store/json_file.ts";
import { runtime } from "./broker_site.ts";
import { FakeLogger } from "./fakes.ts";

/** A started name server; the caller stops it. */
export async function startNamesrv(folder: string, listenPort = 0) {
  const logger = new FakeLogger();
  const namesrv = new NamesrvController(
    {
      ...runtime,
      logger,
      openJsonFile: (path) => new JsonFile(runtime.fileSystem, path, logger),
    },
    {
      ...DEFAULT_NAMESRV_OPTIONS,
      bindAddress: "127.0.0.1",
      listenPort,
      kvConfigPath: `${folder}/kvConfig.json`,
    },
    DEFAULT_REMOTING_SERVER_OPTIONS,
  );
  await namesrv.start();
  return { namesrv, address: `127.0.0.1:${namesrv.listener.port}` };
}
