/** RemotingCommand: one request or response of the remoting protocol (reference 1.1-1.4). */

/** How a header is written: 0 JSON, 1 ROCKETMQ binary. */
export type SerializeType = 0 | 1;

/** Flag bits. */
export const RPC_TYPE_RESPONSE = 1;
export const RPC_ONEWAY = 2;

/** The version ordinal that we state (reference 1.5): 5.3.3. */
export const POCKETMQ_VERSION_ORDINAL = 479;

const NO_BODY = new Uint8Array(0);

/** Header fields; every value is text. */
export type ExtFields = Record<string, string>;

/** One command. A request's `body` is a view of the receive buffer: own it before any await. */
export interface RemotingCommand {
  code: number;
  /** LanguageCode name as JAVA, GO, CPP. */
  language: string;
  version: number;
  opaque: number;
  flag: number;
  remark: string | null;
  extFields: ExtFields;
  body: Uint8Array;
  serializeType: SerializeType;
  /** Called once the command has been written: `body` is not looked at any more. */
  onWritten?: () => void;
}

/** A request with a code and header fields; the client sets `opaque`. */
export function createRequest(
  code: number,
  extFields: ExtFields = {},
  body: Uint8Array = NO_BODY,
): RemotingCommand {
  return {
    code,
    language: "JAVA",
    version: POCKETMQ_VERSION_ORDINAL,
    opaque: 0,
    flag: 0,
    remark: null,
    extFields,
    body,
    serializeType: 0,
  };
}

/** A response; the server sets `opaque` and `serializeType` from the request. */
export function createResponse(
  code: number,
  remark: string | null = null,
  extFields: ExtFields = {},
  body: Uint8Array = NO_BODY,
): RemotingCommand {
  const command = createRequest(code, extFields, body);
  command.flag = RPC_TYPE_RESPONSE;
  command.remark = remark;
  return command;
}

/** True when bit 0 of the flag is set. */
export function isResponse(command: RemotingCommand): boolean {
  return (command.flag & RPC_TYPE_RESPONSE) !== 0;
}

/** True when bit 1 of the flag is set: never answer. */
export function isOneway(command: RemotingCommand): boolean {
  return (command.flag & RPC_ONEWAY) !== 0;
}
