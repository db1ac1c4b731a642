/** What becomes of a refusal: it is waited out, overridden by force, or ends the change of role. */
import type { Clock } from "../../io/clock.ts";
import type { RoleRefusal } from "../ha_role_decision.ts";

/** The change would lose something, or cannot be: one sentence. */
export class RoleChangeRefused extends Error {
  override readonly name = "RoleChangeRefused";
  constructor(reason: string, readonly isForcible: boolean) {
    super(reason);
  }
}

/** How long a master that is to be a slave waits for its slave: it takes no changes meanwhile. */
const DEMOTION_WAIT_MS = 5_000;
/** How long a slave waits for what the former master has: that starts again just now. */
const PROMOTION_WAIT_MS = 10_000;
const SYNC_LOOK_MS = 200;

/**
 * The refusal that `force` overrides, null without one; waits a little for one that may be over
 * in a moment. Unless the first look says no for good, `hold` is called before the others. Rejects
 * with `RoleChangeRefused`.
 */
export async function overriddenRefusal(
  clock: Clock,
  isForced: boolean,
  refusalNow: () => Promise<RoleRefusal | null>,
  hold?: () => void,
): Promise<RoleRefusal | null> {
  const waitMs = hold === undefined ? PROMOTION_WAIT_MS : DEMOTION_WAIT_MS;
  const deadlineMs = clock.monotonicMs() + waitMs;
  let isHeld = hold === undefined;
  for (;;) {
    const refusal = await refusalNow();
    if (!isHeld && (refusal === null || refusal.isTransient)) {
      hold!();
      isHeld = true;
      continue;
    }
    if (refusal === null) return null;
    const waits = refusal.isTransient && clock.monotonicMs() < deadlineMs;
    if (!waits) {
      if (isForced && refusal.isForcible) return refusal;
      throw new RoleChangeRefused(refusal.reason, refusal.isForcible);
    }
    await new Promise<void>((resolve) => clock.after(SYNC_LOOK_MS, resolve));
  }
}

/** The rest of a sentence on what was done all the same. */
export function despite(overridden: RoleRefusal | null): string {
  return overridden === null ? "" : `; forced, although: ${overridden.reason}`;
}
