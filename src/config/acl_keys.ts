/** Keys of access control, in RocketMQ's 4.x way: aclEnable and plain_acl.yml. */
import { flag, text } from "./config_key.ts";

/** Who may come in, and who this broker is to others. */
export const ACL_KEYS = {
  aclEnable: flag(
    false,
    "Requests must be signed by an account of plainAclFile, and may what it says",
  ),
  plainAclFile: text(
    "",
    "Accounts and white lists, as Apache's conf/plain_acl.yml, read again when it changes; empty: config/plain_acl.yml in storePathRootDir",
  ),
  accessKey: text(
    "",
    "Account by which this broker's own requests to other brokers are signed",
  ),
  secretKey: text("", "Secret of accessKey", { isSecret: true }),
} as const;
