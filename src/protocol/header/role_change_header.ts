/** RoleChangeHeader: the ext fields of ANNOUNCE_ROLE_CHANGE (31004) and of its answer. */
import { isHostPort } from "../../model/host_port.ts";
import type { ExtFields } from "../remoting_command.ts";
import {
  HeaderError,
  optionalText,
  requireBoolean,
  requireLong,
  requireText,
} from "./field_reader.ts";

/** A promotion makes a master, a demotion a slave. */
export type RoleChangeKind = "promotion" | "demotion";

/** A change of role that begins, goes on, or has ended. */
export interface RoleChangeNotice {
  readonly brokerName: string;
  /** `host:port` of the remoting port of the broker that changes. */
  readonly brokerAddr: string;
  /** `host:port` of its replication port. */
  readonly haServerAddr: string;
  readonly kind: RoleChangeKind;
  /** End of its log. */
  readonly maxOffset: number;
  /** True: it has ended, whichever way. */
  readonly isOver: boolean;
}

const NAME = "RoleChangeHeader";

/** The ext fields. */
export function encodeRoleChangeNotice(notice: RoleChangeNotice): ExtFields {
  const { brokerAddr, brokerName, haServerAddr, kind } = notice;
  return {
    brokerName,
    brokerAddr,
    haServerAddr,
    kind,
    maxOffset: String(notice.maxOffset),
    isOver: String(notice.isOver),
  };
}

/** Reads them. Throws `HeaderError`. */
export function decodeRoleChangeNotice(fields: ExtFields): RoleChangeNotice {
  const kind = requireText(fields, "kind", NAME);
  if (kind !== "promotion" && kind !== "demotion") {
    throw new HeaderError(`${NAME}: kind is neither promotion nor demotion`);
  }
  const brokerAddr = requireText(fields, "brokerAddr", NAME);
  if (!isHostPort(brokerAddr)) {
    throw new HeaderError(`${NAME}: brokerAddr is no host:port`);
  }
  return {
    brokerName: requireText(fields, "brokerName", NAME),
    brokerAddr,
    haServerAddr: requireText(fields, "haServerAddr", NAME),
    kind,
    maxOffset: requireLong(fields, "maxOffset", NAME),
    isOver: requireBoolean(fields, "isOver", NAME),
  };
}

/** Why the broker that announced its promotion has to give way, in one sentence; null: it has not. */
export function encodeRoleChangeAnswer(objection: string | null): ExtFields {
  return objection === null ? {} : { objection };
}

/** Reads that. */
export function decodeRoleChangeAnswer(fields: ExtFields): string | null {
  return optionalText(fields, "objection") ?? null;
}
