/**
 * surveyPair: the other brokers of this pair, asked at one moment, and the ids that they leave
 * free. Asked are those that name servers show, those that were seen (haPeers.json), the master,
 * and whoever was found in the own place.
 */
import type { RunningBroker } from "./broker_assembly.ts";
import type { OuterClient } from "./broker_outer_api.ts";
import { type HAPeerAnswer, HAPeerInquiry } from "./ha_peer_inquiry.ts";
import { metadataAddressOf } from "./metadata_address.ts";

/** Who asks. */
export interface SurveyingRun {
  readonly client: OuterClient;
  readonly running: RunningBroker;
}

/** What was found. */
export interface PairSurvey {
  /** Brokers that answer, highest epoch first. */
  readonly peers: readonly HAPeerAnswer[];
  /** Brokers that live, and refuse to answer this one (code 16). */
  readonly refusing: readonly string[];
  /** Remoting address of the master that the configuration, or the request, names; null: nobody. */
  readonly named: string | null;
  /** Address of every other broker that a name server shows, by id; one map per server. */
  readonly members: readonly ReadonlyMap<number, string>[];
}

/** `haAddress`: of a broker that is asked too, `host:port` of its replication port. Never rejects. */
export async function surveyPair(
  { client, running }: SurveyingRun,
  haAddress?: string,
): Promise<PairSurvey> {
  const { fence, ha, identity, neighbours, options } = running;
  const inquiry = new HAPeerInquiry(client);
  const shown = await inquiry.members(
    namesrvsOf(options.broker.namesrvAddr),
    identity.brokerName,
  );
  const members = shown.map((it) =>
    new Map([...it].filter(([, address]) => address !== identity.brokerAddr))
  );
  const addresses = new Set(members.flatMap((it) => [...it.values()]));
  for (const it of fence.peerAddresses) addresses.add(it);
  const named = metadataAddressOf({
    masterAddressKey: ha.options.masterAddress || null,
    haAddress: (haAddress ?? ha.options.haMasterAddress) || null,
    masterAddr: null,
  });
  const known = [
    ha.masterAddress,
    ha.registeredMasterAddr,
    named,
    neighbours.rival,
  ];
  for (const it of known) if (it !== null) addresses.add(it);
  addresses.delete(identity.brokerAddr);
  const answers = await inquiry.ask(addresses);
  const peers = answers.filter((it) => it.brokerName === identity.brokerName)
    // Another address of ours leads to us.
    .filter((it) =>
      it.haAddress === "" || it.haAddress !== identity.haServerAddr
    )
    .sort((a, b) => b.epoch - a.epoch);
  return { peers, refusing: [...inquiry.refusing], named, members };
}

/** Of a slave: the lowest id that no other broker has, `preferred` if that is free. Above 0. */
export function freeBrokerId(
  { members, peers }: Pick<PairSurvey, "members" | "peers">,
  preferred: number,
): number {
  const taken = new Set(members.flatMap((it) => [...it.keys()]));
  for (const it of peers) taken.add(it.brokerId);
  if (preferred > 0 && !taken.has(preferred)) return preferred;
  let brokerId = 1;
  while (taken.has(brokerId)) brokerId++;
  return brokerId;
}

/** The list of name servers. */
export function namesrvsOf(namesrvAddr: string): string[] {
  return namesrvAddr.split(";").map((it) => it.trim()).filter((it) =>
    it !== ""
  );
}
