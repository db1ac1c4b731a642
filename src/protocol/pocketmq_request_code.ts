/**
 * PocketmqRequestCode: requests that only PocketMQ nodes understand.
 *
 * They start at 31001 and stay below 32768, since the binary header carries
 * the code in 16 bits. An Apache peer answers 3 to each of them.
 */

/** Our own request codes by name. */
export const PocketmqRequestCode = Object.freeze({
  /**
   * Slave to master: answer when a metadata table has another version than the
   * slave knows, or when the time is up. Ext fields `timeoutMillis`, 0: answer
   * at once; `readableBrokerId`, the slave's id if clients may read from it;
   * `brokerAddr`, the slave's remoting address.
   * Body both ways: MetadataVersions.
   */
  WAIT_METADATA_CHANGE: 31_001,
  /**
   * Role, epoch and bounds of the log of a broker. Ext fields, which may be left out:
   * `brokerName` and `epoch` of the broker that asks. Body of the answer: HARoleBody.
   */
  GET_HA_ROLE: 31_002,
  /**
   * Slave to master: the digest of a stretch of the CommitLog, to compare it. Ext fields
   * `offset` and `size` (bytes, at most LOG_DIGEST_SIZE_MAX); answer's body: LogDigestBody.
   */
  DIGEST_COMMIT_LOG: 31_003,
  /**
   * A promotion or demotion begins, goes on, or has ended at the broker that asks. Ext fields:
   * RoleChangeNotice. Answer: ext field `objection`, a sentence, where it has to give way.
   */
  ANNOUNCE_ROLE_CHANGE: 31_004,
  /**
   * Slave to master: users and policies of 5.x, passwords sealed with the secret of
   * innerClientAuthenticationCredentials. Body of the answer: `config/auth.json`.
   */
  GET_ALL_AUTH: 31_005,
});
