/**
 * HAFenceVerdict: whether a broker that claims id 0 may accept messages; pure.
 *
 * An epoch counts promotions. Whoever knows of a higher one than ours proves that another broker
 * was promoted after this one last was: what is accepted here would be lost. A lower epoch proves
 * nothing, nor does 0; HANeighbours warns of two masters that nobody promoted.
 *
 * Two slaves promoted at the same moment get the same epoch. One keeps the place, by what both say
 * of themselves and what does not change: the log that was longer when it was promoted, else the
 * smaller replication address.
 */
import type { HARoleBody } from "../protocol/body/ha_role_body.ts";

/** Who claims id 0. */
export interface FenceOwner {
  readonly brokerName: string;
  readonly brokerAddr: string;
  readonly epoch: number;
  /** End of the log when it was promoted. */
  readonly promotedAtOffset: number;
  /** `host:port` of the replication port, as others are told. */
  readonly haAddress: string;
}

/** Somebody who knows of a higher epoch, or keeps the place among masters of the same. */
export interface Rival {
  /** `host:port` of its remoting port. */
  readonly address: string;
  readonly epoch: number;
  /** False: it is a slave, which knows of the promotion. */
  readonly isMaster: boolean;
  /** It has the epoch of this broker, and keeps the place. */
  readonly isTied: boolean;
}

/** A PocketMQ broker and what it said of itself (31002). */
export interface FencePeer extends HARoleBody {
  readonly address: string;
}

/** What was found out, as far as it came in time. */
export interface FenceAnswers {
  readonly peers: readonly FencePeer[];
  /** Id 0 as a name server shows it, with the stateVersion that it registered. */
  readonly registered: readonly {
    readonly namesrvAddr: string;
    readonly address: string;
    readonly epoch: number;
  }[];
  /** Id 0 as a name server shows it that tells no epochs (4.x), where it did not answer. */
  readonly unknown: readonly {
    readonly namesrvAddr: string;
    readonly address: string;
  }[];
  /** Brokers that answer, but not to this one (code 16). */
  readonly refusing: readonly string[];
  /** Name servers and brokers that did not answer. */
  readonly silent: readonly string[];
  /** How many did. */
  readonly answeredCount: number;
}

/** The one that keeps `own` from accepting; null when nobody does. */
export function rivalOf(
  own: FenceOwner,
  { peers, registered }: Pick<FenceAnswers, "peers" | "registered">,
): Rival | null {
  const others = peers.filter((it) =>
    it.brokerName === own.brokerName && it.address !== own.brokerAddr
  );
  const candidates: Rival[] = [
    ...others.filter((it) => it.epoch > own.epoch || isTieLost(own, it))
      .map(({ address, epoch, role }) => ({
        address,
        epoch,
        isMaster: role !== "SLAVE",
        isTied: epoch === own.epoch,
      })),
    ...registered
      .filter((it) => it.epoch > own.epoch && it.address !== own.brokerAddr)
      .map(({ address, epoch }) => ({
        address,
        epoch,
        isMaster: true,
        isTied: false,
      })),
  ];
  return candidates.reduce<Rival | null>(
    (best, it) => best === null || isStronger(it, best) ? it : best,
    null,
  );
}

/** True when `other` keeps the place of a promotion that both went through. */
function isTieLost(own: FenceOwner, other: FencePeer): boolean {
  if (own.epoch === 0 || other.epoch !== own.epoch) return false;
  if (other.role === "SLAVE") return false;
  const ahead = other.promotedAtOffset - own.promotedAtOffset;
  return ahead > 0 || (ahead === 0 && other.haAddress < own.haAddress);
}

/**
 * A master is named rather than a slave that knows of it; and what keeps the place of this very
 * epoch counts, whatever was proved of it before this broker had it (a copied haRole.json).
 */
export function isStronger(a: Rival, b: Rival): boolean {
  if (a.epoch !== b.epoch) return a.epoch > b.epoch;
  return a.isTied === b.isTied ? a.isMaster && !b.isMaster : a.isTied;
}

/** Why `own` refuses messages. */
export function fencedReason(own: FenceOwner, rival: Rival): string {
  const who = rival.isMaster
    ? `Broker ${rival.address} was promoted to master of brokerName=${own.brokerName}`
    : `Broker ${rival.address} knows of a promotion in brokerName=${own.brokerName}`;
  const what = rival.epoch === own.epoch
    ? `${who} with epoch ${rival.epoch} as this broker was, and keeps the place: `
    : `${who} with epoch ${rival.epoch}, this broker has epoch ${own.epoch}: `;
  return what +
    "this one accepts no messages. Make it a slave with `pocketmq ha demote`, or, if the other " +
    "one is gone for good, the master with `pocketmq ha promote --force`";
}

/** Why a master that a 4.x name server shows cannot be judged; null without one. */
export function unknownReason({ unknown }: FenceAnswers): string | null {
  const [hidden] = unknown;
  return hidden === undefined
    ? null
    : `Name server ${hidden.namesrvAddr} shows ${hidden.address} as the master, which does not ` +
      "answer: whether it was promoted is unknown";
}

/** What keeps a broker from being asked, and what to do. */
export function refusingReason(addresses: readonly string[]): string {
  const [does, them] = addresses.length === 1 ? ["refuses", "it"] : [
    "refuse",
    "them",
  ];
  return `${
    addresses.join(", ")
  } ${does} to answer this broker (code 16, NO_PERMISSION), so ` +
    `nobody knows whether ${them} was promoted: give all brokers of the pair the same plain_acl.yml, ` +
    "accessKey and secretKey";
}

/** Why not all is known; null when nobody refused, and somebody answered or nobody is to be asked. */
export function unaskedReason(
  { answeredCount, refusing, silent }: FenceAnswers,
): string | null {
  if (refusing.length > 0) return refusingReason(refusing);
  if (answeredCount > 0 || silent.length === 0) return null;
  return `Nobody could say whether another broker was promoted: ${
    silent.join(", ")
  } did not answer`;
}
