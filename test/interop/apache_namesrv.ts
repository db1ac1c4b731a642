/** An Apache name server with ports and folders of its own. */
import { mkdirSync, writeFileSync } from "node:fs";
import { ApacheProcess, prepareApacheHome } from "./apache_process.ts";
import { freePort } from "./free_ports.ts";

/** Where it lives; `settings` go into its properties file. */
export interface ApacheNamesrvOptions {
  version: string;
  /** Folder of its own, made when absent. */
  folder: string;
  listenPort?: number;
  settings?: Record<string, string>;
}

/** Started by `start`, gone after `stop`. */
export class ApacheNamesrv {
  readonly address: string;
  readonly process: ApacheProcess;

  private constructor(address: string, process: ApacheProcess) {
    this.address = address;
    this.process = process;
  }

  static async start(options: ApacheNamesrvOptions): Promise<ApacheNamesrv> {
    const { version, folder, settings = {} } = options;
    const listenPort = options.listenPort ?? await freePort();
    mkdirSync(folder, { recursive: true });
    prepareApacheHome(folder);
    const conf = `${folder}/namesrv.conf`;
    writeFileSync(
      conf,
      propertiesText({
        listenPort: String(listenPort),
        bindAddress: "127.0.0.1",
        kvConfigPath: `${folder}/kvConfig.json`,
        configStorePath: `${folder}/namesrv.properties`,
        ...settings,
      }),
    );
    const process = new ApacheProcess({
      version,
      mainClass: "org.apache.rocketmq.namesrv.NamesrvStartup",
      args: ["-c", conf],
      home: folder,
      heapMb: 192,
    });
    await process.printed("boot success");
    return new ApacheNamesrv(`127.0.0.1:${listenPort}`, process);
  }

  stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    return this.process.stop(signal);
  }
}

/** One `key=value` a line. */
export function propertiesText(settings: Record<string, string>): string {
  return Object.entries(settings).map(([key, value]) => `${key}=${value}\n`)
    .join("");
}
