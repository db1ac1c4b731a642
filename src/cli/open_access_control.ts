/** openAccessControl: the file of a broker with aclEnable=true, as part of its start. */
import {
  AccessControl,
  type AccessControlPorts,
} from "../auth/access_control.ts";
import { AclFileError } from "../auth/yaml_file.ts";
import type { BrokerConfig } from "../config/broker_config.ts";
import { CliError } from "./cli_error.ts";

const UNSIGNED =
  "accessKey is empty: what this broker asks others, and changes over HTTP, is not signed and " +
  "passes only where a white list has its address; set accessKey and secretKey of an admin account";

/** Throws CliError when the file cannot be used. */
export function openAccessControl(
  ports: AccessControlPorts,
  { slices, values }: BrokerConfig,
): AccessControl {
  if (values.accessKey === "") ports.logger.warn(UNSIGNED);
  try {
    return new AccessControl(ports, slices.acl.plainAclFile);
  } catch (error) {
    if (!(error instanceof AclFileError)) throw error;
    throw new CliError(error.message, 2);
  }
}
