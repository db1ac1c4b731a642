/**
 * What a demoted master does with messages that the new master does not have: they are cut off its
 * log before it follows, and kept aside where `pocketmq store dump` reads them.
 *
 * A master of the very next epoch was a slave of this broker when it was promoted, so both logs
 * are the same up to that place. In all other cases nothing is cut here: the comparison of the
 * logs decides, and names a state.
 */
import { cutLog } from "../store/log_cut.ts";
import type { BrokerRun } from "./broker_run.ts";
import type { HAPeerAnswer } from "./ha_peer_inquiry.ts";

/** Work on the closed store, and what to say of it afterwards. */
export interface PreparedDemotion {
  readonly between: () => Promise<void>;
  /** The rest of a sentence; empty when nothing was done. */
  detail(): string;
}

/** `master` null: none was promoted yet. */
export function prepareDemotion(
  run: BrokerRun,
  master: HAPeerAnswer | null,
): PreparedDemotion {
  const { haRole, ports, running: { options, parts } } = run;
  const epoch = haRole?.epoch ?? 0;
  const { minPhyOffset } = parts.messageStore;
  const offset = master?.epoch === epoch + 1 ? master.promotedAtOffset : 0;
  let detail = "";
  return {
    detail: () => detail,
    between: async () => {
      if (offset <= minPhyOffset) return;
      const reason =
        `This broker was demoted: the master at ${
          master!.address
        } was promoted at offset ` +
        `${offset}, what lies behind is this broker's alone`;
      try {
        const { asideDirectory, endOffset } = await cutLog(
          ports,
          options.store,
          offset,
          reason,
        );
        if (asideDirectory === null) return;
        detail =
          `; ${
            endOffset - offset
          } bytes that only this broker had are kept in ` +
          asideDirectory;
      } catch (error) {
        // It starts as a slave all the same, and the comparison of the logs says what is wrong.
        detail = "; its own messages could not be cut off";
        ports.logger.child("ha").error(
          "Cannot cut the log of the demoted broker",
          { error, offset },
        );
      }
    },
  };
}
