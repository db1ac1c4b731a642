/** A broker of ours, master or slave, started as the Apache rig starts Apache's. */
import { type ApacheBrokerOptions, SMALL_FILES } from "./apache_broker.ts";
import { PocketMQProcess } from "../support/pocketmq_process.ts";

/** As for Apache's broker, without a version. */
export type OurBrokerOptions = Omit<ApacheBrokerOptions, "version">;

/** Started by `start`, gone after `stop`. */
export class OurBroker {
  readonly storePath: string;
  readonly process: PocketMQProcess;

  private constructor(storePath: string, process: PocketMQProcess) {
    this.storePath = storePath;
    this.process = process;
  }

  static async start(options: OurBrokerOptions): Promise<OurBroker> {
    const storePath = `${options.folder}/store`;
    const { role = "ASYNC_MASTER" } = options;
    const settings = {
      brokerName: options.brokerName ?? "broker-a",
      brokerId: String(options.brokerId ?? (role === "SLAVE" ? 1 : 0)),
      brokerRole: role,
      brokerIP1: "127.0.0.1",
      brokerIP2: "127.0.0.1",
      ...(options.fileSizes ?? SMALL_FILES),
      ...options.settings,
    };
    const process = await PocketMQProcess.start([
      "broker",
      "--store",
      storePath,
      "--bind",
      "127.0.0.1",
      "--listen-port",
      String(options.listenPort ?? 0),
      "--admin-port",
      "0",
      ...(options.namesrv === "" ? [] : ["--namesrv", options.namesrv]),
      ...Object.entries(settings).flatMap(([key, value]) => [
        "--set",
        `${key}=${value}`,
      ]),
    ]);
    return new OurBroker(storePath, process);
  }

  get address(): string {
    return this.process.address("broker");
  }

  get listenPort(): number {
    return this.process.port("broker");
  }

  get haAddress(): string {
    return `127.0.0.1:${this.listenPort + 1}`;
  }

  get admin(): string {
    return `http://${this.process.address("admin")}`;
  }

  stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    return this.process.stop(signal);
  }
}
