/**
 * What a demoted master does with messages that the new master does not have: they are cut off its
 * log before it follows, and kept aside where `pocketmq store dump` reads them.
 *
 * Both logs are compared first, as a slave compares them. Where no place is known up to which they
 * agree nothing is cut: the broker starts as a slave all the same, and its state says what to do.
 */
import { cutLog } from "../store/log_cut.ts";
import type { MessageStore } from "../store/message_store.ts";
import type { MessageStoreOptions } from "../store/store_options.ts";
import type { StoreSurgeryPorts } from "../store/store_reseed.ts";
import { compareTails } from "./ha_log_comparison.ts";
import { type HAMasterClient, HAMasterLog } from "./ha_master_log.ts";

/** What is needed of the broker; a BrokerRun has it. */
export interface DemotedBroker {
  readonly client: HAMasterClient;
  readonly ports: StoreSurgeryPorts;
  readonly haRole: { readonly promotedAtOffset: number } | null;
  readonly running: {
    readonly options: { readonly store: MessageStoreOptions };
    readonly parts: { readonly messageStore: MessageStore };
  };
}

/** Work on the closed store, and what to say of it afterwards. */
export interface PreparedDemotion {
  readonly between: () => Promise<void>;
  /** The rest of a sentence; empty when nothing was done. */
  detail(): string;
}

/** What is to be cut. */
interface Cut {
  readonly offset: number;
  readonly reason: string;
}

/** `masterAddress` null: nobody was promoted yet. Asks that master, and changes nothing. */
export async function prepareDemotion(
  run: DemotedBroker,
  masterAddress: string | null,
): Promise<PreparedDemotion> {
  const cut = masterAddress === null ? null : await cutOf(run, masterAddress);
  let detail = "";
  return {
    detail: () => detail,
    between: async () => {
      if (cut !== null) detail = await cutOff(run, cut);
    },
  };
}

/** Null when nothing is to be cut, or nobody can say where. */
async function cutOf(
  { client, haRole, ports, running: { parts } }: DemotedBroker,
  masterAddress: string,
): Promise<Cut | null> {
  const store = parts.messageStore;
  if (store.maxPhyOffset === 0) return null;
  const own = {
    log: store.replicaLog,
    promotedAtOffset: haRole?.promotedAtOffset ?? 0,
    selectOneMessageByOffset: (offset: number) =>
      store.selectOneMessageByOffset(offset),
  };
  try {
    const master = new HAMasterLog(client, masterAddress);
    const compared = await compareTails(own, master, await master.bounds());
    if (compared.kind !== "stop" || compared.cure?.kind !== "cut") return null;
    return {
      offset: compared.cure.offset,
      reason: `This broker was demoted: ${compared.reason}`,
    };
  } catch (error) {
    // The comparison is made again by the slave that this broker becomes.
    ports.logger.child("ha").warn(
      `Cannot compare the logs with the master at ${masterAddress}`,
      { error },
    );
    return null;
  }
}

/** The rest of a sentence. Never rejects: the broker has to start again, whatever happens. */
async function cutOff(
  { ports, running: { options } }: DemotedBroker,
  { offset, reason }: Cut,
): Promise<string> {
  try {
    const { asideDirectory, endOffset } = await cutLog(
      ports,
      options.store,
      offset,
      reason,
    );
    return asideDirectory === null
      ? ""
      : `; ${endOffset - offset} bytes that only this broker had are kept in ` +
        asideDirectory;
  } catch (error) {
    ports.logger.child("ha").error(
      "Cannot cut the log of the demoted broker",
      { error, offset },
    );
    return "; its own messages could not be cut off";
  }
}
