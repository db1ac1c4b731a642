/**
 * AuthTable: users and their policies, with the refusals of Apache's AuthenticationMetadataManager
 * and AuthorizationMetadataManager. Immutable: a change gives a new table, so that one that cannot
 * be written down is none.
 */
import { shown } from "../../base/shown.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import { AuthError } from "./auth_error.ts";
import {
  type Acl,
  type PolicyType,
  updatedAcl,
  withoutEntry,
} from "./policy.ts";
import { PolicyIndex } from "./policy_index.ts";
import { resourceKey, type ResourcePattern } from "./resource_pattern.ts";
import type { User, UserStatus, UserType } from "./user.ts";

/** Users of one broker. */
const USERS_MAX = 50_000;
/** Entries of one user. */
const ENTRIES_MAX = 10_000;

/** What a request says of a user; undefined: nothing. */
export interface UserChange {
  readonly username: string;
  readonly password: string | undefined;
  readonly userType: UserType | undefined;
  readonly userStatus: UserStatus | undefined;
}

/** All users, all policies. */
export class AuthTable {
  readonly #indexes = new Map<string, PolicyIndex>();

  constructor(
    readonly users: ReadonlyMap<string, User>,
    /** By user name. */
    readonly acls: ReadonlyMap<string, Acl>,
  ) {}

  /** Policies of a user, ready to be asked; undefined: there are none. */
  policiesOf(username: string): PolicyIndex | undefined {
    const known = this.#indexes.get(username);
    const acl = this.acls.get(username);
    if (known !== undefined || acl === undefined) return known;
    const index = new PolicyIndex(acl);
    this.#indexes.set(username, index);
    return index;
  }

  /** Throws AuthError. */
  withUser(
    { password, userStatus, userType, username }: UserChange,
  ): AuthTable {
    checkName(username);
    if (password === undefined || password.trim() === "") {
      throw refused("password can not be blank");
    }
    if (this.users.has(username)) throw refused("The user is existed");
    if (this.users.size >= USERS_MAX) {
      throw refused(`This broker has ${USERS_MAX} users: delete some`);
    }
    return this.#with({
      username,
      password,
      userType: userType ?? "Normal",
      userStatus: userStatus ?? "enable",
    });
  }

  /** Throws AuthError. */
  withChangedUser(change: UserChange): AuthTable {
    checkName(change.username);
    const old = this.users.get(change.username);
    if (old === undefined) throw refused("The user is not exist");
    const isBlank = (change.password ?? "").trim() === "";
    return this.#with({
      username: old.username,
      password: isBlank ? old.password : change.password!,
      userType: change.userType ?? old.userType,
      userStatus: change.userStatus ?? old.userStatus,
    });
  }

  /** Its policies go too. */
  withoutUser(username: string): AuthTable {
    const users = new Map(this.users);
    const acls = new Map(this.acls);
    users.delete(username);
    acls.delete(username);
    return new AuthTable(users, acls);
  }

  /** Adds the entries of `changes`, or replaces those for the same resource. Throws AuthError. */
  withAcl(username: string, changes: Acl): AuthTable {
    if (!this.users.has(username)) {
      throw refused(`The subject of User:${shown(username)} is not exist.`);
    }
    const acl = updatedAcl(this.acls.get(username) ?? new Map(), changes);
    for (const policy of acl.values()) {
      if (policy.size <= ENTRIES_MAX) continue;
      throw refused(
        `A policy has ${ENTRIES_MAX} entries at most: use prefixes`,
      );
    }
    return new AuthTable(this.users, new Map(this.acls).set(username, acl));
  }

  /** Takes one entry away, or all policies where `resource` is undefined. Throws AuthError. */
  withoutAcl(
    username: string,
    type: PolicyType,
    resource: ResourcePattern | undefined,
  ): AuthTable {
    const acl = this.acls.get(username);
    if (!this.users.has(username)) throw refused("The subject is not exist.");
    if (acl === undefined) throw refused("The acl is not exist.");
    const acls = new Map(this.acls);
    const rest = resource === undefined
      ? new Map()
      : withoutEntry(acl, type, resourceKey(resource));
    if (rest.size === 0) acls.delete(username);
    else acls.set(username, rest);
    return new AuthTable(this.users, acls);
  }

  #with(user: User): AuthTable {
    return new AuthTable(
      new Map(this.users).set(user.username, user),
      this.acls,
    );
  }
}

const NAME_LENGTH_MAX = 255;

function checkName(username: string): void {
  if (username.trim() === "") throw refused("username can not be blank");
  if (username.length > NAME_LENGTH_MAX) {
    throw refused(`username has ${NAME_LENGTH_MAX} characters at most`);
  }
}

function refused(sentence: string): AuthError {
  return new AuthError(ResponseCode.NO_PERMISSION, sentence);
}
