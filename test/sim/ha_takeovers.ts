/** Faults of a simulated pair after which the slave takes over, and what becomes of the master. */
import type { HAFault } from "./ha_faults.ts";
import type { HANode } from "./ha_node.ts";
import type { HAPair, Step } from "./ha_pair.ts";

/** Turns until the next step of a story. */
const TURNS_MAX = 5;

/** The slave that can take over; null while there is none. */
function heirOf({ slave }: HAPair): HANode | null {
  return slave.life?.role === "SLAVE" ? slave : null;
}

/** The heir is promoted, the former master comes back some turns later, and is demoted later still. */
function takeOver(
  pair: HAPair,
  former: HANode,
  heir: HANode,
  comeBack: () => void,
): Step {
  const soon = () => pair.random.nextInt(TURNS_MAX);
  return async () => {
    const outcome = await pair.operator.promote(heir, former);
    if (outcome === "later") return false;
    if (outcome === "refused") {
      comeBack();
      return true;
    }
    const returns = soon();
    pair.later(returns, comeBack);
    pair.laterStill(
      returns + soon(),
      () => pair.operator.demote(former, heir),
    );
    return true;
  };
}

/** The power of the heir may go while it is promoted. */
function maybeInterrupted(pair: HAPair, heir: HANode, step: Step): Step {
  const { clock, random } = pair;
  if (!random.oneIn(3)) return step;
  return async () => {
    heir.disk.faults.syncDelayMs = () => 1 + random.nextInt(20);
    clock.after(random.nextInt(100), () => {
      pair.end(heir, true);
      pair.wantsStart.add(heir);
    });
    const isDone = await step();
    heir.disk.faults.syncDelayMs = () => 0;
    // Once is enough.
    if (isDone === false) pair.later(0, step);
    return true;
  };
}

function afterEnd(isPower: boolean): HAFault {
  return (pair) => {
    const { master, random } = pair;
    const heir = heirOf(pair);
    if (heir === null || master.life === null) return null;
    pair.end(master, isPower);
    const comeBack = () => void pair.wantsStart.add(master);
    // A service manager may be quicker than the operator.
    if (random.oneIn(3)) comeBack();
    return maybeInterrupted(pair, heir, takeOver(pair, master, heir, comeBack));
  };
}

export const HA_TAKEOVERS: Readonly<Record<string, HAFault>> = {
  "takeover: master killed": afterEnd(false),
  "takeover: master without power": afterEnd(true),
  // The former master goes on, and its producers with it.
  "takeover: master cut off"(pair) {
    const { hosts, master, network, random } = pair;
    const heir = heirOf(pair);
    if (heir === null || master.life === null) return null;
    if (random.oneIn(2)) network.cut(...hosts);
    else network.partition(...hosts);
    return takeOver(pair, master, heir, () => network.heal(...hosts));
  },
  "takeover: planned"(pair) {
    const { master } = pair;
    const heir = heirOf(pair);
    if (heir === null || master.life?.service.inSyncSlaveNums !== 1) {
      return null;
    }
    pair.later(0, () => pair.operator.swap(master, heir));
    return () => {};
  },
};

export const HA_TAKEOVER_NAMES = Object.keys(HA_TAKEOVERS);
