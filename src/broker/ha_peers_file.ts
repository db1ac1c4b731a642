/**
 * HAPeersFile: `config/haPeers.json`, the PocketMQ brokers of this pair that were seen, and the
 * highest epoch that one of them proved. Without a name server a master that starts can ask
 * nobody else; and what was proved once stays true while its witness is away.
 */
import { isHostPort } from "../model/host_port.ts";
import {
  BodyError,
  booleanField,
  intField,
  objectOf,
  textArrayField,
  textField,
} from "../protocol/body/json_fields.ts";
import { parseFastjson } from "../protocol/fastjson.ts";
import type { BrokerRole } from "./broker_options.ts";
import { type BrokerManagerPorts, ConfigManager } from "./config_manager.ts";
import { isStronger, type Rival } from "./ha_fence_verdict.ts";

/** A pair has one; more are brokers that have moved. */
const PEERS_MAX = 8;

/** What the file holds. */
export interface HAPeersContent {
  readonly peers: readonly string[];
  readonly rival: Rival | null;
  readonly followedRole: MasterRole | null;
}

/** What a promoted slave becomes: what its master was. */
export type MasterRole = Exclude<BrokerRole, "SLAVE">;

/** Read once, written whenever it changes. */
export class HAPeersFile {
  readonly #manager: ConfigManager;
  /** Remoting addresses, the one seen first first. */
  #peers: string[] = [];
  #rival: Rival | null = null;
  #followedRole: MasterRole | null = null;

  constructor(ports: BrokerManagerPorts) {
    this.#manager = new ConfigManager(
      ports,
      "haPeers.json",
      () => this.#encode(),
    );
  }

  get peers(): readonly string[] {
    return this.#peers;
  }

  /** Whoever proved the highest epoch; null: nobody proved any. */
  get rival(): Rival | null {
    return this.#rival;
  }

  /** Role of the last master that was followed, or was this broker; null: nobody was. */
  get followedRole(): MasterRole | null {
    return this.#followedRole;
  }

  /** Never throws: a file of no use holds nobody. */
  load(): void {
    this.#manager.load(parseHAPeers, ({ followedRole, peers, rival }) => {
      this.#peers = peers.slice(-PEERS_MAX);
      this.#rival = rival;
      this.#followedRole = followedRole;
    });
  }

  /** Keeps an address; whatever is no `host:port` is ignored. */
  remember(address: string): void {
    if (this.#peers.includes(address) || !isHostPort(address)) return;
    this.#peers.push(address);
    if (this.#peers.length > PEERS_MAX) this.#peers.shift();
    this.#manager.changed();
  }

  /** Another pair's broker lives there now. */
  forget(address: string): void {
    if (!this.#peers.includes(address)) return;
    this.#peers = this.#peers.filter((it) => it !== address);
    this.#manager.changed();
  }

  /** Keeps the role of a master that is followed; what is none is ignored. */
  followed(role: string): void {
    if (!isMasterRole(role) || role === this.#followedRole) return;
    this.#followedRole = role;
    this.#manager.changed();
  }

  /** Keeps `rival` unless a stronger one is known. */
  prove(rival: Rival): void {
    if (this.#rival !== null && !isStronger(rival, this.#rival)) return;
    this.#rival = rival;
    this.#manager.changed();
  }

  /** Resolves when all is durable; rejects with what the disk said. */
  persist(): Promise<void> {
    return this.#manager.persist();
  }

  /** `nowMs` is monotonic. */
  tick(nowMs: number): void {
    this.#manager.tick(nowMs);
  }

  #encode(): string {
    const content: HAPeersContent = {
      peers: this.#peers,
      rival: this.#rival,
      followedRole: this.#followedRole,
    };
    return `${JSON.stringify(content, null, 2)}\n`;
  }
}

/** Throws `BodyError` when the text is no haPeers.json. */
export function parseHAPeers(text: string): HAPeersContent {
  const json = objectOf(parseFastjson(text), "haPeers.json");
  const rival = objectOf(json.rival, "rival");
  const address = textField(rival, "address", "");
  const epoch = intField(rival, "epoch", 0);
  if (epoch < 0) throw new BodyError("epoch is below 0");
  const followedRole = textField(json, "followedRole", "");
  return {
    peers: textArrayField(json, "peers").filter(isHostPort),
    rival: epoch === 0 ? null : {
      address,
      epoch,
      isMaster: booleanField(rival, "isMaster", true),
      isTied: booleanField(rival, "isTied", false),
    },
    followedRole: isMasterRole(followedRole) ? followedRole : null,
  };
}

function isMasterRole(role: string): role is MasterRole {
  return role === "SYNC_MASTER" || role === "ASYNC_MASTER";
}
