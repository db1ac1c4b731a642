/**
 * The codes of users and policies (3001 to 3010), with Apache's answers; and the whole table for a
 * slave (31005).
 *
 * mqadmin sends each change to the master and to every slave. A slave has its master's table: it
 * makes the change as well, takes as done what is there already, and says so; its master's table
 * comes over it with the next round.
 */
import type { Logger } from "../../io/logger.ts";
import { shown } from "../../base/shown.ts";
import {
  BodyError,
  decodeJson,
  encodeJson,
  encodeJsonText,
  type JsonObject,
  objectOf,
} from "../../protocol/body/json_fields.ts";
import { PocketmqRequestCode } from "../../protocol/pocketmq_request_code.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../../protocol/remoting_command.ts";
import { RequestCode, requestCodeName } from "../../protocol/request_code.ts";
import { accessKeyOf } from "../../protocol/request_signature.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import type {
  RequestContext,
  RequestProcessor,
} from "../../remoting/request_processor.ts";
import {
  aclFromJson,
  aclToJson,
  policyTypeOf,
  subjectOf,
  userChangeFromJson,
  usernameOf,
  userToJson,
} from "./auth_bodies.ts";
import { AuthError } from "./auth_error.ts";
import type { AuthStore } from "./auth_store.ts";
import type { AuthTable, UserChange } from "./auth_table.ts";
import type { PasswordSeal } from "./password_seal.ts";
import type { Acl } from "./policy.ts";
import { parseResource, resourceKey } from "./resource_pattern.ts";

/** What they work on. */
export interface AuthProcessorsDeps {
  readonly store: AuthStore;
  readonly seal: PasswordSeal;
  readonly logger: Logger;
  isSlave(): boolean;
}

const ON_SLAVE =
  "This broker is a slave: its master's users and policies take the place of its own, change them there too";

/** Answers 3001 to 3010, and 31005. */
export class AuthProcessors {
  readonly #deps: AuthProcessorsDeps;

  constructor(deps: AuthProcessorsDeps) {
    this.#deps = deps;
  }

  /** Processors by request code. */
  *entries(): Iterable<readonly [number, RequestProcessor]> {
    yield this.#change(RequestCode.AUTH_CREATE_USER, this.#createUser);
    yield this.#change(RequestCode.AUTH_UPDATE_USER, this.#updateUser);
    yield this.#change(RequestCode.AUTH_DELETE_USER, this.#deleteUser);
    yield this.#change(RequestCode.AUTH_CREATE_ACL, this.#writeAcl);
    yield this.#change(RequestCode.AUTH_UPDATE_ACL, this.#writeAcl);
    yield this.#change(RequestCode.AUTH_DELETE_ACL, this.#deleteAcl);
    yield this.#query(RequestCode.AUTH_GET_USER, this.#getUser);
    yield this.#query(RequestCode.AUTH_LIST_USER, this.#listUser);
    yield this.#query(RequestCode.AUTH_GET_ACL, this.#getAcl);
    yield this.#query(RequestCode.AUTH_LIST_ACL, this.#listAcl);
    yield this.#query(PocketmqRequestCode.GET_ALL_AUTH, this.#getAll);
  }

  /** `read` runs before the first await: a body is gone then. */
  #change(
    code: number,
    read: (request: RemotingCommand) => (table: AuthTable) => AuthTable,
  ): readonly [number, RequestProcessor] {
    return [code, async (context, request) => {
      try {
        await this.#deps.store.change(read.call(this, request));
      } catch (error) {
        return this.#refusal(code, context, error);
      }
      this.#deps.logger.info(`${requestCodeName(code)} was done`, {
        of: shown(
          request.extFields["username"] ?? request.extFields["subject"] ?? "",
        ),
        by: shown(accessKeyOf(request) ?? ""),
        client: context.connection.remoteAddress,
      });
      return createResponse(
        ResponseCode.SUCCESS,
        this.#deps.isSlave() ? ON_SLAVE : null,
      );
    }];
  }

  #query(
    code: number,
    read: (request: RemotingCommand) => Uint8Array,
  ): readonly [number, RequestProcessor] {
    return [code, (context, request) => {
      try {
        const body = read.call(this, request);
        return createResponse(ResponseCode.SUCCESS, null, {}, body);
      } catch (error) {
        return this.#refusal(code, context, error);
      }
    }];
  }

  #refusal(
    code: number,
    { connection }: RequestContext,
    error: unknown,
  ): RemotingCommand {
    if (!(error instanceof Error)) throw error;
    const isExpected = error instanceof AuthError ||
      error instanceof BodyError || error.name === "FileError";
    if (!isExpected) throw error;
    this.#deps.logger.warn(
      `${
        requestCodeName(code)
      } of ${connection.remoteAddress} was not done: ${error.message}`,
    );
    return createResponse(
      error instanceof AuthError ? error.code : ResponseCode.SYSTEM_ERROR,
      error.message,
    );
  }

  #createUser(request: RemotingCommand) {
    const { deps, change } = this.#userChange(request);
    const isSuper = this.#isSuperLogin(request);
    return (table: AuthTable) => {
      if (change.userType === "Super" && !isSuper(table)) {
        throw systemError("The super user can only be create by super user");
      }
      const old = table.users.get(change.username);
      const isKnown = deps.isSlave() && old !== undefined &&
        old.password === change.password &&
        old.userType === (change.userType ?? "Normal");
      return isKnown ? table : table.withUser(change);
    };
  }

  #updateUser(request: RemotingCommand) {
    const { change } = this.#userChange(request);
    const isSuper = this.#isSuperLogin(request);
    return (table: AuthTable) => {
      if (change.userType === "Super" && !isSuper(table)) {
        throw systemError("The super user can only be update by super user");
      }
      this.#checkTarget(table, change.username, isSuper);
      return table.withChangedUser(change);
    };
  }

  #deleteUser(request: RemotingCommand) {
    const username = request.extFields["username"] ?? "";
    if (username.trim() === "") {
      throw refused("username can not be blank");
    }
    const isSuper = this.#isSuperLogin(request);
    return (table: AuthTable) => {
      this.#checkTarget(table, username, isSuper);
      return table.users.has(username) ? table.withoutUser(username) : table;
    };
  }

  #writeAcl(request: RemotingCommand) {
    const body = bodyOf(request, "AclInfo");
    const acl: Acl = aclFromJson(body);
    if (acl.size === 0) throw systemError("The body of acl is null");
    const subject = body["subject"] ?? request.extFields["subject"];
    const username = usernameOf(String(subject ?? ""));
    return (table: AuthTable) => table.withAcl(username, acl);
  }

  #deleteAcl({ extFields }: RemotingCommand) {
    const username = usernameOf(extFields["subject"] ?? "");
    const type = policyTypeOf(extFields["policyType"] || "Custom");
    const text = (extFields["resource"] ?? "").trim();
    const resource = text === "" ? undefined : parseResource(text);
    if (text !== "" && resource === undefined) {
      throw new AuthError(
        ResponseCode.INVALID_PARAMETER,
        `Cannot use resource ${
          shown(text)
        }: give *, or Topic:, Group: or Cluster: and a name; nothing was deleted`,
      );
    }
    return (table: AuthTable) => {
      const isGone = this.#deps.isSlave() && table.users.has(username) &&
        !table.acls.has(username);
      return isGone ? table : table.withoutAcl(username, type, resource);
    };
  }

  #getUser({ extFields }: RemotingCommand): Uint8Array {
    const username = extFields["username"] ?? "";
    if (username.trim() === "") {
      throw new AuthError(
        ResponseCode.INVALID_PARAMETER,
        "The username is blank",
      );
    }
    const user = this.#deps.store.table.users.get(username);
    return user === undefined ? NO_BODY : encodeJson(this.#shownUser(user));
  }

  #listUser({ extFields }: RemotingCommand): Uint8Array {
    const filter = extFields["filter"] ?? "";
    const users = sorted(this.#deps.store.table.users)
      .filter((it) => it.username.includes(filter));
    return users.length === 0
      ? NO_BODY
      : encodeJson(users.map((it) => this.#shownUser(it)));
  }

  #getAcl({ extFields }: RemotingCommand): Uint8Array {
    const username = usernameOf(extFields["subject"] ?? "");
    const { acls, users } = this.#deps.store.table;
    if (!users.has(username)) throw refused("The subject is not exist.");
    const acl = acls.get(username);
    return acl === undefined ? NO_BODY : encodeJson(aclToJson(username, acl));
  }

  /** A resource filter counts where the subject does not hold its text, as in Apache's. */
  #listAcl({ extFields }: RemotingCommand): Uint8Array {
    const subjectFilter = extFields["subjectFilter"] ?? "";
    const resourceFilter = extFields["resourceFilter"] ?? "";
    const found: JsonObject[] = [];
    const { acls } = this.#deps.store.table;
    for (const username of [...acls.keys()].sort()) {
      const subject = subjectOf(username);
      if (!subject.includes(subjectFilter)) continue;
      const filter = subject.includes(resourceFilter) ? "" : resourceFilter;
      const acl = about(acls.get(username)!, filter);
      if (acl.size > 0) found.push(aclToJson(username, acl));
    }
    return found.length === 0 ? NO_BODY : encodeJson(found);
  }

  /** For brokers of the cluster alone: superusers, and passwords only they can open. */
  #getAll(request: RemotingCommand): Uint8Array {
    const { seal, store } = this.#deps;
    const name = accessKeyOf(request) ?? "";
    if (store.table.users.get(name)?.userType !== "Super") {
      throw refused("Users and policies are copied by a super user only");
    }
    if (!seal.isUsable) {
      throw refused(
        "Users are copied where innerClientAuthenticationCredentials is set, which seals their passwords: set the same on master and slave",
      );
    }
    return encodeJsonText(store.encodeForPeers());
  }

  #userChange(
    request: RemotingCommand,
  ): { change: UserChange; deps: AuthProcessorsDeps } {
    const username = request.extFields["username"] ?? "";
    if (username === "") {
      throw new AuthError(
        ResponseCode.INVALID_PARAMETER,
        "The username is blank",
      );
    }
    const given = userChangeFromJson(username, bodyOf(request, "UserInfo"));
    const password = given.password === undefined
      ? undefined
      : this.#deps.seal.open(username, given.password);
    return { change: { ...given, password }, deps: this.#deps };
  }

  #shownUser(user: Parameters<typeof userToJson>[0]): JsonObject {
    const password = this.#deps.seal.seal(user.username, user.password);
    return userToJson(user, password);
  }

  #checkTarget(
    table: AuthTable,
    username: string,
    isSuper: (table: AuthTable) => boolean,
  ): void {
    if (table.users.get(username)?.userType === "Super" && !isSuper(table)) {
      throw refused("The super user can only be update by super user");
    }
  }

  /** Without a name nobody asked for one: authentication lets this code pass. */
  #isSuperLogin(request: RemotingCommand): (table: AuthTable) => boolean {
    const name = accessKeyOf(request) ?? "";
    return ({ users }) => name === "" || users.get(name)?.userType === "Super";
  }
}

const NO_BODY = new Uint8Array(0);

function bodyOf({ body }: RemotingCommand, what: string): JsonObject {
  return objectOf(decodeJson(body, what), what);
}

function sorted<T>(map: ReadonlyMap<string, T>): T[] {
  return [...map.keys()].sort().map((it) => map.get(it)!);
}

/** The entries whose resource holds `filter`. */
function about(acl: Acl, filter: string): Acl {
  const result = new Map(acl);
  for (const [type, policy] of acl) {
    const entries = [...policy].filter(([, { resource }]) =>
      resourceKey(resource).includes(filter)
    );
    if (entries.length === 0) result.delete(type);
    else result.set(type, new Map(entries));
  }
  return result;
}

function refused(sentence: string): AuthError {
  return new AuthError(ResponseCode.NO_PERMISSION, sentence);
}

function systemError(sentence: string): AuthError {
  return new AuthError(ResponseCode.SYSTEM_ERROR, sentence);
}
