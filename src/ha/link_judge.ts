/**
 * LinkJudge: which links of a master are slaves', as far as what is shown and logged goes. The
 * protocol has no name and no greeting: a slave is known by what it does.
 *
 * - A host whose link has acked what was sent, or the exact end, has a slave.
 * - A host that reports again on its link, or comes back with the same offset after a pause, too.
 * - Whoever speaks a known protocol has none.
 */
import type { Logger } from "../io/logger.ts";
import { DivergedSlaves } from "./diverged_slaves.ts";
import type { HACloseCause } from "./ha_connection_effect.ts";
import type { HALink } from "./ha_link.ts";
import { foreignProtocolOf, type HAStrangers, hostOf } from "./ha_strangers.ts";
import { REPORT_HEADER_SIZE } from "./report_header.ts";
import type { SlaveLinks } from "./slave_links.ts";

/** The judge of one HAService. */
export class LinkJudge {
  readonly divergedSlaves = new DivergedSlaves();

  constructor(
    private readonly logger: Logger,
    private readonly slaveLinks: SlaveLinks,
    private readonly strangers: HAStrangers,
  ) {}

  /** False for a link that may be a stranger's: the state does not follow from its problem. */
  isBelieved({ addr, machine }: HALink): boolean {
    return machine.hasRepeated || this.slaveLinks.wasSlave(addr);
  }

  /** Slaves are spoken of; what may be a stranger only so often. */
  mayTell({ addr }: HALink, nowMs: number): boolean {
    return this.slaveLinks.wasSlave(addr) || this.strangers.mayTell(nowMs);
  }

  /** At most one line about the end of a link. True when its problem is one of this broker's. */
  onClosed(
    link: HALink,
    reason: string,
    cause: HACloseCause | null,
    nowMs: number,
  ): boolean {
    const { addr, head, machine } = link;
    const view = machine.view(nowMs);
    if (view.slaveRequestOffset === null) {
      // A probe that says nothing is not worth a line.
      const isJunk = cause === "protocol" ||
        foreignProtocolOf(head) !== undefined ||
        head.length % REPORT_HEADER_SIZE > 0;
      if (isJunk) this.strangers.onJunk(addr, head, nowMs);
      return false;
    }
    const isDiverged = view.problem === "diverged";
    if (isDiverged && !this.#isSlaveBeyond(link, nowMs)) {
      if (foreignProtocolOf(head) === undefined) {
        this.strangers.onBeyond(addr, reason, nowMs);
      } else this.strangers.onJunk(addr, head, nowMs);
      return false;
    }
    if (this.mayTell(link, nowMs)) {
      this.logger.warn(`Slave ${addr} is gone: ${reason}`, {
        slave: addr,
        slaveAckOffset: view.slaveAckOffset,
      });
    }
    return view.problem !== null && (isDiverged || this.isBelieved(link));
  }

  /** Whether a link that reported an end beyond this log's is a slave's. */
  #isSlaveBeyond({ addr, head, machine }: HALink, nowMs: number): boolean {
    const host = hostOf(addr);
    const offset = machine.view(nowMs).slaveRequestOffset!;
    const isBack = this.divergedSlaves.add(host, offset, nowMs);
    if (foreignProtocolOf(head) !== undefined) return false;
    return isBack || this.slaveLinks.isGoneSlave(host);
  }
}
