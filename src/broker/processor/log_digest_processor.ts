/** DIGEST_COMMIT_LOG (31003): what a slave compares its own log with. */
import type { HACoordinator } from "../../ha/ha_coordinator.ts";
import {
  encodeLogDigest,
  LOG_DIGEST_SIZE_MAX,
} from "../../protocol/body/log_digest_body.ts";
import { requireLong } from "../../protocol/header/field_reader.ts";
import { PocketmqRequestCode } from "../../protocol/pocketmq_request_code.ts";
import type { RemotingCommand } from "../../protocol/remoting_command.ts";
import type {
  ProcessorTable,
  RequestProcessor,
} from "../../remoting/request_processor.ts";
import { digestOf } from "../../store/log_digest.ts";
import { bodyResponse, invalid } from "./admin_response.ts";

const HEADER = "DigestCommitLogRequestHeader";

/** The processor by request code. */
export function logDigestProcessors(
  { ha }: { readonly ha: HACoordinator },
): ProcessorTable {
  return new Map<number, RequestProcessor>([
    [
      PocketmqRequestCode.DIGEST_COMMIT_LOG,
      (_context, request) => digest(ha, request),
    ],
  ]);
}

async function digest(
  { service: { log } }: HACoordinator,
  { extFields }: RemotingCommand,
): Promise<RemotingCommand> {
  const offset = requireLong(extFields, "offset", HEADER);
  const size = requireLong(extFields, "size", HEADER);
  if (offset < 0 || size < 0 || size > LOG_DIGEST_SIZE_MAX) {
    return invalid(
      `offset=${offset} and size=${size} name no stretch of the log: give 0 or more, and at most ${LOG_DIGEST_SIZE_MAX} bytes`,
    );
  }
  return bodyResponse(encodeLogDigest({
    digest: await digestOf(log, offset, offset + size),
    minOffset: log.minOffset,
    maxOffset: log.maxOffset,
  }));
}
