/** An Apache broker, master or slave, with ports and folders of its own. */
import { mkdirSync, writeFileSync } from "node:fs";
import { propertiesText } from "./apache_namesrv.ts";
import { ApacheProcess, prepareApacheHome } from "./apache_process.ts";
import { freePort } from "./free_ports.ts";

/** File sizes that roll often and cost little; every node of a test uses the same. */
export const SMALL_FILES: Record<string, string> = {
  mappedFileSizeCommitLog: String(1024 * 1024),
  maxMessageSize: String(512 * 1024),
  mappedFileSizeConsumeQueue: String(20 * 1000),
  maxHashSlotNum: "50000",
  maxIndexNum: "200000",
};

/** What a broker is; `settings` go into its broker.conf and win over the rig's. */
export interface ApacheBrokerOptions {
  version: string;
  /** Folder of its own, made when absent: a second start there opens the same store. */
  folder: string;
  /** `host:port;…`; empty: it registers nowhere. */
  namesrv: string;
  brokerName?: string;
  brokerId?: number;
  role?: "ASYNC_MASTER" | "SYNC_MASTER" | "SLAVE";
  /** The HA port is `listenPort + 1` (4.9 takes no other), the VIP port `listenPort - 2`. */
  listenPort?: number;
  settings?: Record<string, string>;
  /** Instead of SMALL_FILES; `{}`: what the program itself takes, or finds in the store. */
  fileSizes?: Record<string, string>;
  /** Flags of a JVM that is not small. */
  javaFlags?: readonly string[];
}

/** Started by `start`, gone after `stop`. */
export class ApacheBroker {
  readonly listenPort: number;
  readonly storePath: string;
  readonly logFolder: string;
  readonly process: ApacheProcess;

  private constructor(
    listenPort: number,
    folder: string,
    process: ApacheProcess,
  ) {
    this.listenPort = listenPort;
    this.storePath = `${folder}/store`;
    this.logFolder = `${folder}/logs`;
    this.process = process;
  }

  static async start(options: ApacheBrokerOptions): Promise<ApacheBroker> {
    const { version, folder } = options;
    const listenPort = options.listenPort ?? await freePort([-2, 1]);
    mkdirSync(folder, { recursive: true });
    prepareApacheHome(folder);
    const conf = `${folder}/broker.conf`;
    writeFileSync(conf, propertiesText(brokerSettings(options, listenPort)));
    const process = new ApacheProcess({
      version,
      mainClass: "org.apache.rocketmq.broker.BrokerStartup",
      args: ["-c", conf],
      home: folder,
      ...(options.javaFlags === undefined
        ? {}
        : { javaFlags: options.javaFlags }),
    });
    await process.printed("boot success");
    return new ApacheBroker(listenPort, folder, process);
  }

  get address(): string {
    return `127.0.0.1:${this.listenPort}`;
  }

  get haAddress(): string {
    return `127.0.0.1:${this.listenPort + 1}`;
  }

  /** SIGTERM: a clean stop; SIGKILL: as if the process had crashed. */
  stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    return this.process.stop(signal);
  }
}

function brokerSettings(
  options: ApacheBrokerOptions,
  listenPort: number,
): Record<string, string> {
  const { folder, role = "ASYNC_MASTER" } = options;
  return {
    brokerClusterName: "DefaultCluster",
    brokerName: options.brokerName ?? "broker-a",
    brokerId: String(options.brokerId ?? (role === "SLAVE" ? 1 : 0)),
    brokerRole: role,
    brokerIP1: "127.0.0.1",
    brokerIP2: "127.0.0.1",
    bindAddress: "127.0.0.1",
    listenPort: String(listenPort),
    haListenPort: String(listenPort + 1),
    storePathRootDir: `${folder}/store`,
    storePathCommitLog: `${folder}/store/commitlog`,
    // A quiet machine is not promised: a loaded disk must not refuse sends.
    diskMaxUsedSpaceRatio: "95",
    brokerFastFailureEnable: "false",
    ...(options.namesrv === "" ? {} : { namesrvAddr: options.namesrv }),
    ...(options.fileSizes ?? SMALL_FILES),
    ...options.settings,
  };
}
