/** Answers that the administration processors share. */
import { encodeJsonText } from "../../protocol/body/json_fields.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../../protocol/remoting_command.ts";
import { ResponseCode } from "../../protocol/response_code.ts";

/** Success with a body. */
export function bodyResponse(body: Uint8Array): RemotingCommand {
  return createResponse(ResponseCode.SUCCESS, null, {}, body);
}

/** Success with a JSON text as body. */
export function textResponse(text: string): RemotingCommand {
  return bodyResponse(encodeJsonText(text));
}

/** A parameter that cannot be; `sentence` names field, value and limit. */
export function invalid(sentence: string): RemotingCommand {
  return createResponse(ResponseCode.INVALID_PARAMETER, sentence);
}

/** A change that holds in memory but not on disk; it is written again later. */
export function notStored(what: string, error: unknown): RemotingCommand {
  const reason = error instanceof Error ? error.message : String(error);
  return createResponse(
    ResponseCode.SYSTEM_ERROR,
    `${what} could not be stored yet: ${reason}`,
  );
}
