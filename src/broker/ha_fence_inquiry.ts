/**
 * HAFenceInquiry: asks name servers and peers who else claims id 0. All at once, each address
 * once; what has come so far can be read at any time.
 */
import { decodeClusterInfo } from "../protocol/body/cluster_info.ts";
import {
  encodeDataVersion,
  ZERO_DATA_VERSION,
} from "../protocol/body/data_version_body.ts";
import {
  decodeJson,
  intField,
  objectOf,
} from "../protocol/body/json_fields.ts";
import { decodeHARole } from "../protocol/body/ha_role_body.ts";
import { encodeBrokerIdentityHeader } from "../protocol/header/broker_identity_header.ts";
import { PocketmqRequestCode } from "../protocol/pocketmq_request_code.ts";
import {
  createRequest,
  type RemotingCommand,
} from "../protocol/remoting_command.ts";
import { RequestCode } from "../protocol/request_code.ts";
import { ResponseCode } from "../protocol/response_code.ts";
import type { BrokerIdentity, OuterClient } from "./broker_outer_api.ts";
import type { FenceAnswers, FencePeer } from "./ha_fence_verdict.ts";

/** Milliseconds that each address has. */
const TIMEOUT_MS = 1_500;
const MASTER_ID = 0;
/** Of one name: more are no pair. */
const MEMBERS_MAX = 16;

/** What a round needs. */
export interface HAFenceInquiryPorts {
  readonly client: OuterClient;
  readonly identity: BrokerIdentity;
  /** The own one: whoever is asked learns it. */
  readonly epoch: number;
  /** What was learned a moment ago of a master that does not answer; `ask`: nothing. */
  versionOf(address: string): "ask" | "known" | "unknown";
}

type PeerAnswer = "answered" | "silent";

/** One round of questions. */
export class HAFenceInquiry implements FenceAnswers {
  readonly peers: FencePeer[] = [];
  /** Masters that do not answer us, at a name server that knows no epochs. */
  readonly unknown: { namesrvAddr: string; address: string }[] = [];
  readonly registered: {
    namesrvAddr: string;
    address: string;
    epoch: number;
  }[] = [];
  readonly refusing: string[] = [];
  answeredCount = 0;
  /** Resolves when everybody has answered or will not. */
  readonly done: Promise<void>;
  readonly #ports: HAFenceInquiryPorts;
  readonly #asked = new Map<string, Promise<PeerAnswer>>();
  readonly #waitedFor = new Set<string>();

  constructor(
    ports: HAFenceInquiryPorts,
    namesrvAddrs: readonly string[],
    peerAddrs: Iterable<string>,
  ) {
    this.#ports = ports;
    this.done = Promise.all([
      ...namesrvAddrs.map((it) => this.#askNamesrv(it)),
      ...[...peerAddrs].map((it) => this.#askPeer(it)),
    ]).then(() => {});
  }

  /** Whoever has not answered so far. */
  get silent(): string[] {
    return [...this.#waitedFor];
  }

  async #askNamesrv(namesrvAddr: string): Promise<void> {
    this.#waitedFor.add(namesrvAddr);
    const { client, identity } = this.#ports;
    const members = await membersOf(client, identity, namesrvAddr);
    if (members === null) return;
    this.#answered(namesrvAddr);
    const others = [...members].slice(0, MEMBERS_MAX);
    await Promise.all(others.map(async ([id, address]) => {
      if (await this.#askPeer(address) !== "silent" || id !== MASTER_ID) return;
      const version = this.#ports.versionOf(address);
      if (version === "ask") await this.#askVersion(namesrvAddr, address);
      if (version === "unknown") this.unknown.push({ namesrvAddr, address });
    }));
  }

  #askPeer(address: string): Promise<PeerAnswer> {
    let asked = this.#asked.get(address);
    if (asked === undefined) {
      asked = this.#askRole(address);
      this.#asked.set(address, asked);
    }
    return asked;
  }

  async #askRole(address: string): Promise<PeerAnswer> {
    const { client, epoch } = this.#ports;
    const { brokerAddr, brokerName } = this.#ports.identity;
    if (address === brokerAddr) return "answered";
    this.#waitedFor.add(address);
    const response = await ask(
      client,
      address,
      // Whoever is asked learns who asks: a master that was away may have to give way.
      createRequest(PocketmqRequestCode.GET_HA_ROLE, {
        brokerName,
        epoch: String(epoch),
      }),
    );
    if (response === null) return "silent";
    if (response.code === ResponseCode.NO_PERMISSION) {
      this.#waitedFor.delete(address);
      this.refusing.push(address);
      return "answered";
    }
    this.#answered(address);
    if (response.code !== ResponseCode.SUCCESS) return "answered";
    try {
      this.peers.push({ ...decodeHARole(response.body), address });
    } catch {
      // A body that cannot be read says nothing.
    }
    return "answered";
  }

  /** What a master out of our reach registered with: a 5.x name server tells its epoch. */
  async #askVersion(namesrvAddr: string, address: string): Promise<void> {
    const { client, identity } = this.#ports;
    const { brokerName, clusterName } = identity;
    const response = await ask(
      client,
      namesrvAddr,
      createRequest(
        RequestCode.QUERY_DATA_VERSION,
        encodeBrokerIdentityHeader({
          clusterName,
          brokerName,
          brokerAddr: address,
          brokerId: MASTER_ID,
        }),
        // Nobody's version: the name server must not take us for that broker.
        encodeDataVersion(ZERO_DATA_VERSION),
      ),
    );
    if (response === null || response.body.length === 0) return;
    const epoch = epochOf(response.body);
    if (epoch === null) this.unknown.push({ namesrvAddr, address });
    else this.registered.push({ namesrvAddr, address, epoch });
  }

  #answered(address: string): void {
    if (this.#waitedFor.delete(address)) this.answeredCount++;
  }
}

/**
 * The brokers of our name by id, as one name server shows them; null without an answer. Asked with
 * 106: a 4.x name server leaves 901 without any answer.
 */
export async function membersOf(
  client: OuterClient,
  { brokerName }: BrokerIdentity,
  namesrvAddr: string,
): Promise<ReadonlyMap<number, string> | null> {
  const response = await ask(
    client,
    namesrvAddr,
    createRequest(RequestCode.GET_BROKER_CLUSTER_INFO),
  );
  if (response?.code !== ResponseCode.SUCCESS) return null;
  try {
    const { brokerAddrTable } = decodeClusterInfo(response.body);
    return brokerAddrTable.get(brokerName)?.brokerAddrs ?? new Map();
  } catch {
    return null; // A body that cannot be read says nothing.
  }
}

/** The stateVersion of a DataVersion; null from a 4.x name server, which has none. */
function epochOf(body: Uint8Array): number | null {
  try {
    const json = objectOf(decodeJson(body, "DataVersion"), "DataVersion");
    const epoch = intField(json, "stateVersion", -1);
    return epoch < 0 ? null : epoch;
  } catch {
    return null;
  }
}

/** The answer; null without one. */
async function ask(
  client: OuterClient,
  address: string,
  request: RemotingCommand,
): Promise<RemotingCommand | null> {
  const again = { ...request };
  try {
    return await client.invoke(address, request, TIMEOUT_MS);
  } catch (error) {
    // A connection that ended unnoticed, while this process stood still, says nothing.
    const isStale = error instanceof Error &&
      error.name === "RemotingClosedError";
    if (!isStale) return null;
  }
  try {
    return await client.invoke(address, again, TIMEOUT_MS);
  } catch {
    return null;
  }
}
