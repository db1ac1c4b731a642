/**
 * HAOperator: who acts on a simulated pair by hand: promotes, demotes, cures. What is decided and
 * done to the stores is the product's; a start that fails is tried again.
 */
import { assert } from "@std/assert";
import { prepareDemotion } from "../../src/broker/ha_demotion.ts";
import { HAPeerInquiry } from "../../src/broker/ha_peer_inquiry.ts";
import { HAReseedError } from "../../src/broker/ha_reseed.ts";
import { refusalOfPromotion } from "../../src/broker/ha_role_decision.ts";
import type { HARoleRecord } from "../../src/broker/ha_role_file.ts";
import { brokerInner } from "../model/message_fixture.ts";
import type { HANode, Promotion } from "./ha_node.ts";
import type { HAPair } from "./ha_pair.ts";
import { HA_PORT, HARemoting } from "./ha_remoting.ts";

/** Longer than any look of a fence may take. */
const FENCED_WITHIN_MS = 8_000;

/** `later`: to be tried again. */
export type PromotionOutcome = "promoted" | "refused" | "later";

/** The operator of one pair. */
export class HAOperator {
  constructor(private readonly pair: HAPair) {}

  /** `former` is asked first, as a peer. */
  async promote(
    heir: HANode,
    former: HANode,
    isForced = false,
  ): Promise<PromotionOutcome> {
    const { pair } = this;
    if (heir.life === null) pair.wantsStart.add(heir);
    // Interrupted before, but written.
    if (heir.isMaster) return this.#promoted(heir);
    if (!canBeChanged(heir)) return "later";
    const refusal = await this.#refusalOf(heir, former);
    if (!canBeChanged(heir)) return "later";
    if (refusal !== null && !isForced) {
      pair.hits.add("promotion refused");
      return "refused";
    }
    const epoch = pair.highestEpoch + 1;
    await this.#restart(heir, async () => {}, (promotedAtOffset) => ({
      role: "SYNC_MASTER",
      brokerId: 0,
      epoch,
      promotedAtOffset,
    }));
    return heir.isMaster ? this.#promoted(heir) : "later";
  }

  /** False: to be tried again. */
  async demote(former: HANode, master: HANode): Promise<boolean> {
    const { pair } = this;
    if (pair.master === former || former.life?.role === "SLAVE") return true;
    if (former.life === null) pair.wantsStart.add(former);
    if (!canBeChanged(former)) return false;
    if (pair.isHealed && master.isMaster) await this.#checkFence(former);
    pair.hits.add(`former master: ${former.life!.fence.state}`);
    await this.#demote(former, master);
    return former.life !== null;
  }

  /** Only a pair in sync changes places. */
  async swap(master: HANode, heir: HANode): Promise<boolean> {
    const { pair } = this;
    const isReady = master.life?.service.inSyncSlaveNums === 1 &&
      canBeChanged(master) && canBeChanged(heir) && heir !== pair.master;
    if (!isReady) {
      pair.hits.add("swap refused");
      return true;
    }
    await this.#demote(master, heir);
    // Somebody has to be the master: the former one again, if need be.
    const again = async () =>
      await this.promote(master, heir, true) !== "later";
    pair.later(0, async () => {
      const outcome = await this.promote(heir, master);
      if (outcome === "refused") pair.later(0, again);
      // A disk that could not be written kept it the master that it was.
      if (outcome === "promoted") {
        pair.later(0, () => this.demote(master, heir));
      }
      return outcome !== "later";
    });
    return true;
  }

  /** As the state of the slave says. */
  async cure(slave: HANode): Promise<void> {
    if (slave.life?.role !== "SLAVE" || !canBeChanged(slave)) return;
    if (slave.life.client!.view().cure === null) return;
    try {
      const { action } = await this.pair.clock.complete(
        slave.reseed.reseed(false),
      );
      this.pair.hits.add(`cure by hand: ${action}`);
    } catch (error) {
      // Else a disk that is broken: the next turn tries again.
      this.pair.hits.add(
        error instanceof HAReseedError
          ? `cure by hand: ${error.kind}`
          : "restart failed",
      );
    }
  }

  /** What the heir knows, and what the former master says if it answers. */
  async #refusalOf(heir: HANode, former: HANode) {
    const { life, options, world } = heir;
    const client = new HARemoting(world, options.host, world.clock);
    const peers = await this.pair.clock.complete(
      new HAPeerInquiry(client).ask([former.address]),
    );
    return refusalOfPromotion({
      role: life!.role,
      fencedReason: null,
      maxOffset: life!.store.maxPhyOffset,
      standing: life!.ha.client.standing,
      peers,
      refusing: [],
      differingTables: null,
      hasStoodStill: false,
      silentSlaves: [],
    });
  }

  async #demote(former: HANode, master: HANode): Promise<void> {
    const { life, options, record: haRole, world } = former;
    const client = new HARemoting(world, options.host, world.clock);
    const answer = await this.pair.clock.complete(
      new HAPeerInquiry(client).askOne(master.address),
    );
    if (former.life !== life) return; // It has ended meanwhile.
    const isMaster = answer !== null && answer.role !== "SLAVE";
    const prepared = await this.pair.clock.complete(prepareDemotion({
      client,
      haRole: haRole ?? null,
      ports: former.surgeryPorts,
      running: {
        options: { store: life!.store.options },
        parts: { messageStore: life!.store },
      },
    }, isMaster ? master.address : null));
    if (former.life !== life) return;
    const record: HARoleRecord = {
      role: "SLAVE",
      brokerId: 1,
      epoch: haRole?.epoch ?? 0,
      promotedAtOffset: haRole?.promotedAtOffset ?? 0,
      haMasterAddress: `${master.options.host}:${HA_PORT}`,
    };
    await this.#restart(former, async () => {
      await former.roleFile.write(record);
      await prepared.between();
    }, null);
    const isCut = prepared.detail().includes("are kept in");
    this.pair.hits.add(isCut ? "demotion: cut" : "demotion: nothing cut");
    // What was not cut may still be there.
    if (!isCut) this.pair.checker.mayDiverge = true;
  }

  async #restart(
    node: HANode,
    between: () => Promise<void>,
    promotion: Promotion | null,
  ): Promise<void> {
    try {
      await this.pair.clock.complete(
        this.pair.restart(node, between, promotion),
      );
    } catch {
      // A disk that is broken: the next turn tries again.
      this.pair.hits.add("restart failed");
    }
    if (node.life === null) this.pair.wantsStart.add(node);
  }

  async #checkFence(former: HANode): Promise<void> {
    await this.pair.clock.run(FENCED_WITHIN_MS);
    if (!former.knowsPeers) return;
    const { phyOffset } = await former.put(brokerInner());
    assert(phyOffset < 0, "the former master takes messages");
  }

  #promoted(heir: HANode): "promoted" {
    // Without a record it never was anything else: its demotion has failed.
    const epoch = heir.record?.epoch ?? 0;
    if (epoch > this.pair.highestEpoch) this.pair.onPromoted(heir);
    return "promoted";
  }
}

/** It runs, and its disk would not lie to the next start. */
function canBeChanged({ disk, isBusy, life }: HANode): boolean {
  return life !== null && !isBusy && disk.faults.failSync === undefined;
}
