/**
 * AuthStore: users and policies of a broker in `config/auth.json`, where Apache has two RocksDBs.
 *
 * Invariants
 * - A change is in force, and answered, once the whole file with it is durable; changes are made
 *   one after the other, each from what the one before left.
 * - The file holds passwords as they are, what goes to other brokers holds them sealed.
 */
import type { Clock } from "../../io/clock.ts";
import { type DataVersion, nextVersion } from "../../model/data_version.ts";
import {
  dataVersionFromJson,
  dataVersionToJson,
} from "../../protocol/body/data_version_body.ts";
import {
  arrayField,
  BodyError,
  type JsonObject,
  objectOf,
  optionalTextField,
} from "../../protocol/body/json_fields.ts";
import { parseFastjson } from "../../protocol/fastjson.ts";
import {
  aclFromJson,
  aclToJson,
  userChangeFromJson,
  usernameOf,
  userToJson,
} from "./auth_bodies.ts";
import { AuthTable } from "./auth_table.ts";
import type { PasswordSeal } from "./password_seal.ts";
import type { Acl } from "./policy.ts";
import type { User } from "./user.ts";

/** A JSON file that is replaced as a whole, durably. */
export interface AuthStoreFile {
  /** Undefined when there is none that `parse` can take. */
  read<T>(parse: (text: string) => T): T | undefined;
  /** Rejects with FileError. */
  write(text: string): Promise<void>;
}

/** What it needs. */
export interface AuthStorePorts {
  readonly clock: Clock;
  readonly file: AuthStoreFile;
  readonly seal: PasswordSeal;
}

interface AuthState {
  readonly table: AuthTable;
  readonly dataVersion: DataVersion;
}

const NOTHING: AuthState = {
  table: new AuthTable(new Map(), new Map()),
  dataVersion: { stateVersion: 0, timestamp: 0, counter: 0 },
};

/** The table in force, and its file. */
export class AuthStore {
  readonly #ports: AuthStorePorts;
  #state: AuthState;
  #last: Promise<void> = Promise.resolve();

  /** Reads the file. Throws FileError when the device fails. */
  constructor(ports: AuthStorePorts) {
    this.#ports = ports;
    this.#state = ports.file.read((text) => decode(text, (_, it) => it)) ??
      NOTHING;
  }

  get table(): AuthTable {
    return this.#state.table;
  }

  get dataVersion(): DataVersion {
    return this.#state.dataVersion;
  }

  /**
   * Makes one change; resolves once it is durable and in force. Rejects with what `change` throws
   * or the disk says, and then nothing has changed.
   */
  change(change: (table: AuthTable) => AuthTable): Promise<void> {
    return this.#next(() => {
      const { dataVersion, table } = this.#state;
      const changed = change(table);
      return changed === table ? this.#state : {
        table: changed,
        dataVersion: nextVersion(dataVersion, this.#ports.clock.nowMs()),
      };
    });
  }

  /** The whole table for another broker of the cluster, passwords sealed. */
  encodeForPeers(): string {
    const { seal } = this.#ports;
    return encode(
      this.#state,
      ({ password, username }) => seal.seal(username, password),
    );
  }

  /**
   * As a slave: takes over `encodeForPeers` of its master. Rejects with BodyError, with AuthError
   * for passwords that cannot be opened, or with FileError, and then nothing has changed.
   */
  replaceAll(text: string): Promise<void> {
    return this.#next(() =>
      decode(text, (username, it) => this.#ports.seal.open(username, it))
    );
  }

  #next(make: () => AuthState): Promise<void> {
    const done = this.#last.then(async () => {
      const state = make();
      if (state === this.#state) return;
      await this.#ports.file.write(encode(state, (it) => it.password));
      this.#state = state;
    });
    this.#last = done.catch(() => {
      // Whoever asked for that change was told.
    });
    return done;
  }
}

function encode(
  { dataVersion, table }: AuthState,
  passwordOf: (user: User) => string | undefined,
): string {
  return JSON.stringify(
    {
      acls: [...table.acls].map(([name, acl]) => aclToJson(name, acl)),
      dataVersion: dataVersionToJson(dataVersion),
      users: [...table.users.values()].map((it) =>
        userToJson(it, passwordOf(it))
      ),
    },
    null,
    "\t",
  );
}

/** Throws BodyError or AuthError. */
function decode(
  text: string,
  passwordOf: (username: string, text: string) => string,
): AuthState {
  const json = objectOf(parsed(text), "auth.json");
  const users = new Map<string, User>();
  const acls = new Map<string, Acl>();
  for (const value of arrayField(json, "users")) {
    const user = userOf(objectOf(value, "users"), passwordOf);
    users.set(user.username, user);
  }
  for (const value of arrayField(json, "acls")) {
    const acl = objectOf(value, "acls");
    const username = usernameOf(optionalTextField(acl, "subject") ?? "");
    if (users.has(username)) acls.set(username, aclFromJson(acl));
  }
  return {
    table: new AuthTable(users, acls),
    dataVersion: dataVersionFromJson(json["dataVersion"]),
  };
}

function parsed(text: string): unknown {
  try {
    return parseFastjson(text);
  } catch {
    // The parser's sentence may quote a password.
    throw new BodyError("auth.json is no JSON");
  }
}

function userOf(
  json: JsonObject,
  passwordOf: (username: string, text: string) => string,
): User {
  const name = optionalTextField(json, "username") ?? "";
  const { password, userStatus, userType } = userChangeFromJson(name, json);
  if (name === "" || password === undefined || password === "") {
    throw new BodyError("A user of auth.json lacks its name or its password");
  }
  return {
    username: name,
    password: passwordOf(name, password),
    userType: userType ?? "Normal",
    userStatus: userStatus ?? "enable",
  };
}
