/** How the role of haRole.json and that of the configuration become one. */
import { withArticle } from "../base/article.ts";
import type {
  BrokerControllerOptions,
  BrokerPorts,
} from "./broker_assembly.ts";
import type { HARoleRecord } from "./ha_role_file.ts";

const REASON = "as config/haRole.json has it";
const INSTEAD =
  "config/haRole.json decides that since a change of role; `pocketmq ha promote` makes a slave the " +
  "master, `pocketmq ha demote` makes a SLAVE with a free brokerId, and gives one whose brokerId " +
  "is taken another one";

/** Whoever reads the configuration sees the role in force, and where it comes from. */
export function tellRole(
  { configuration, logger }: BrokerPorts,
  { broker, ha }: BrokerControllerOptions,
  { brokerId, epoch, haMasterAddress, role }: HARoleRecord,
): void {
  const isMasterGiven = haMasterAddress !== undefined;
  configuration.found?.({ brokerRole: role, brokerId }, REASON, INSTEAD);
  configuration.found?.(
    { haMasterAddress: haMasterAddress ?? ha.haMasterAddress },
    REASON,
    isMasterGiven
      ? "config/haRole.json decides that since `pocketmq ha demote --master HOST:PORT`, which " +
        "gives a slave without a master another one"
      : undefined,
  );
  if (broker.brokerRole === role && broker.brokerId === brokerId) return;
  logger.child("ha").info(
    `This broker is ${
      withArticle(role)
    } with brokerId=${brokerId}, as config/haRole.json says: that ` +
      `overrides brokerRole=${broker.brokerRole} and brokerId=${broker.brokerId} of the configuration`,
    { role, brokerId, epoch },
  );
}

/** The options with the role that haRole.json holds. */
export function withHARole(
  options: BrokerControllerOptions,
  record: HARoleRecord | null,
): BrokerControllerOptions {
  if (record === null) return options;
  const { brokerId, haMasterAddress, role } = record;
  return {
    ...options,
    broker: { ...options.broker, brokerRole: role, brokerId },
    store: { ...options.store, brokerRole: role },
    ha: haMasterAddress === undefined
      ? options.ha
      : { ...options.ha, haMasterAddress },
  };
}
