/** A fence between a name server and peers that are tables. */
import { HAFence } from "../../src/broker/ha_fence.ts";
import { HAPeersFile } from "../../src/broker/ha_peers_file.ts";
import { encodeClusterInfo } from "../../src/protocol/body/cluster_info.ts";
import { encodeJson } from "../../src/protocol/body/json_fields.ts";
import {
  encodeHARole,
  type HARoleBody,
} from "../../src/protocol/body/ha_role_body.ts";
import { PocketmqRequestCode } from "../../src/protocol/pocketmq_request_code.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../../src/protocol/remoting_command.ts";
import { RequestCode } from "../../src/protocol/request_code.ts";
import { RemotingClosedError } from "../../src/remoting/remoting_errors.ts";
import { FakeClock, FakeLogger } from "./fakes.ts";

export const OWN = "10.0.0.5:10911";
export const PEER = "10.0.0.6:10911";
export const NAMESRV = "10.0.0.1:9876";

/** What a peer says of itself. */
export function roleOf(changes: Partial<HARoleBody> = {}): HARoleBody {
  return {
    role: "ASYNC_MASTER",
    brokerId: 0,
    brokerName: "broker-a",
    epoch: 1,
    promotedAtOffset: 1_000,
    minOffset: 0,
    maxOffset: 2_000,
    haAddress: "",
    slaves: [],
    roleChange: "",
    ...changes,
  };
}

/** A file in memory. */
export class FakeFile {
  text: string | undefined;
  readonly isDegraded = false;
  read<T>(parse: (text: string) => T): T | undefined {
    return this.text === undefined ? undefined : parse(this.text);
  }
  write(text: string): Promise<void> {
    this.text = text;
    return Promise.resolve();
  }
}

/** One broker's neighbourhood. */
export class FenceSite {
  readonly clock = new FakeClock();
  readonly logger = new FakeLogger();
  readonly file: FakeFile;
  readonly peers: HAPeersFile;
  namesrvAddrs: string[] = [];
  isMaster = true;
  slaveCount = 0;
  followedMaster: string | null = null;
  fencedWith: string | null = null;
  /** What lives at an address; `silent` never answers; nothing there: refused. */
  readonly roles = new Map<
    string,
    HARoleBody | "silent" | "apache" | "refusing"
  >();
  /** What the name server shows; `is4x` knows no epochs. */
  members = new Map<number, string>();
  is4x = false;
  isNamesrvSilent = false;
  versions = new Map<string, number>();
  /** Addresses whose next request finds a connection that has ended. */
  readonly ended = new Set<string>();
  readonly asked: string[] = [];
  readonly fence: HAFence;

  constructor(epoch = 0, file = new FakeFile(), promotedAtOffset = 0) {
    this.file = file;
    const { clock, logger } = this;
    this.peers = new HAPeersFile({ clock, logger, file });
    this.peers.load();
    this.fence = new HAFence({
      client: { invoke: (address, request) => this.#invoke(address, request) },
      clock,
      logger,
      identity: {
        clusterName: "C",
        brokerName: "broker-a",
        brokerAddr: OWN,
        brokerId: 0,
        haServerAddr: "10.0.0.5:10912",
        heartbeatTimeoutMillis: 20_000,
      },
      epoch,
      promotedAtOffset,
      peers: this.peers,
      isMaster: () => this.isMaster,
      namesrvAddrs: () => this.namesrvAddrs,
      slaveCount: () => this.slaveCount,
      followedMaster: () => this.followedMaster,
      onFenced: (reason) => {
        this.fencedWith = reason;
      },
    });
  }

  /** Starts and lets those that answer answer; the state then. */
  async start(): Promise<string> {
    void this.fence.start();
    await settle();
    return this.fence.state;
  }

  /** Ticks for `ms`; the state then. */
  async after(ms: number): Promise<string> {
    for (let passed = 0; passed < ms; passed += 100) {
      this.clock.advance(100);
      this.fence.tick();
      await settle();
    }
    return this.fence.state;
  }

  #invoke(address: string, request: RemotingCommand): Promise<RemotingCommand> {
    this.asked.push(`${request.code} ${address}`);
    if (this.ended.delete(address)) {
      return Promise.reject(new RemotingClosedError(address, request.code));
    }
    if (address === NAMESRV) return this.#namesrv(request);
    const role = this.roles.get(address);
    if (role === "silent") return new Promise(() => {});
    if (role === undefined) return Promise.reject(new Error("refused"));
    if (role === "refusing") {
      return Promise.resolve(createResponse(16, "No accessKey is configured"));
    }
    return Promise.resolve(
      role === "apache" || request.code !== PocketmqRequestCode.GET_HA_ROLE
        ? createResponse(3, "not supported")
        : createResponse(0, null, {}, encodeHARole(role)),
    );
  }

  #namesrv({ code, extFields }: RemotingCommand): Promise<RemotingCommand> {
    if (this.isNamesrvSilent) return new Promise(() => {});
    const brokerName = "broker-a";
    const brokerAddrs = this.members;
    const answer = (body: Uint8Array) =>
      Promise.resolve(createResponse(0, null, {}, body));
    if (code === RequestCode.GET_BROKER_CLUSTER_INFO) {
      const zoneName = null;
      const enableActingMaster = false;
      const data = {
        cluster: "C",
        brokerName,
        brokerAddrs,
        zoneName,
        enableActingMaster,
      };
      return answer(encodeClusterInfo({
        brokerAddrTable: new Map([[brokerName, data]]),
        clusterAddrTable: new Map(),
      }));
    }
    // A 4.x name server leaves unknown codes without any answer.
    if (code !== RequestCode.QUERY_DATA_VERSION) return new Promise(() => {});
    const version = { timestamp: 1, counter: 1 };
    const stateVersion = this.versions.get(extFields.brokerAddr ?? "") ?? 0;
    return answer(
      encodeJson(this.is4x ? version : { ...version, stateVersion }),
    );
  }
}

export async function settle(): Promise<void> {
  for (let turn = 0; turn < 60; turn++) await Promise.resolve();
}
