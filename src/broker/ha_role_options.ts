/** How the role of haRole.json and that of the configuration become one. */
import type {
  BrokerControllerOptions,
  BrokerPorts,
} from "./broker_assembly.ts";
import type { HARoleRecord } from "./ha_role_file.ts";

/** Whoever reads the configuration sees the role in force, and where it comes from. */
export function tellRole(
  { configuration, logger }: BrokerPorts,
  { broker }: BrokerControllerOptions,
  { brokerId, epoch, haMasterAddress, role }: HARoleRecord,
): void {
  const found = haMasterAddress === undefined ? {} : { haMasterAddress };
  configuration.found?.(
    { brokerRole: role, brokerId, ...found },
    "as config/haRole.json has it",
  );
  if (broker.brokerRole === role && broker.brokerId === brokerId) return;
  logger.child("ha").info(
    `This broker is a ${role} with brokerId=${brokerId}, as config/haRole.json says: that ` +
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
