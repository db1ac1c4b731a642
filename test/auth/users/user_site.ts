/** UserSite: a guard of 5.x before processors that answer 0, over a file of a test's own. */
import { AuthStore } from "../../../src/auth/users/auth_store.ts";
import { withSuperUsers } from "../../../src/auth/users/initial_users.ts";
import { PasswordSeal } from "../../../src/auth/users/password_seal.ts";
import {
  UserAccess,
  type UserAccessOptions,
} from "../../../src/auth/users/user_access.ts";
import { encodeJson } from "../../../src/protocol/body/json_fields.ts";
import {
  createRequest,
  createResponse,
  type ExtFields,
  type RemotingCommand,
} from "../../../src/protocol/remoting_command.ts";
import { signRequest } from "../../../src/protocol/request_signature.ts";
import type { RequestProcessor } from "../../../src/remoting/request_processor.ts";
import { JsonFile } from "../../../src/store/json_file.ts";
import { runtime } from "../../broker/broker_site.ts";
import {
  FakeClock,
  fakeConnection,
  fakeContext,
  FakeLogger,
} from "../../broker/fakes.ts";

export const SUPER = { username: "root-user", password: "root-password" };
const CODES = [10, 310, 11, 12, 14, 15, 17, 21, 25, 33, 34, 41, 200, 225, 987];

/** One guard. */
export class UserSite {
  readonly clock = new FakeClock();
  readonly logger = new FakeLogger();
  readonly path: string;
  readonly store: AuthStore;
  readonly access: UserAccess;
  readonly #table = new Map<number, RequestProcessor>();
  isSlave = false;

  constructor(
    folder: string,
    options: Partial<UserAccessOptions> = {},
    sealSecret: string | null = "inner-secret",
  ) {
    this.path = `${folder}/config/auth.json`;
    const { clock, logger } = this;
    const file = new JsonFile(runtime.fileSystem, this.path, logger, "same");
    const seal = new PasswordSeal(sealSecret ?? undefined);
    this.store = new AuthStore({ clock, file, seal });
    this.access = new UserAccess({ clock, logger, store: this.store, seal }, {
      authorizationEnabled: true,
      authenticationWhitelist: new Set(),
      authorizationWhitelist: new Set(),
      clusterName: "DefaultCluster",
      ...options,
    });
    for (const code of CODES) this.#table.set(code, () => createResponse(0));
    this.access.wrap(this.#table, {
      clusterName: "DefaultCluster",
      brokerName: "broker-a",
      brokerAddr: "127.0.0.1:10911",
      isSlave: () => this.isSlave,
    });
  }

  /** With the superuser in it. */
  async open(): Promise<this> {
    await this.store.change((it) => withSuperUsers(it, [SUPER]));
    return this;
  }

  /** The whole answer. */
  async ask(
    request: RemotingCommand,
    from = "10.0.0.7:4711",
  ): Promise<RemotingCommand> {
    const context = fakeContext(fakeConnection(from));
    return await this.#table.get(request.code)!(
      context,
      request,
    ) as RemotingCommand;
  }

  /** Code and remark of the answer to a signed request. */
  async signed(
    code: number,
    fields: ExtFields,
    body: unknown = null,
    { password, username } = SUPER,
    from?: string,
  ): Promise<{ code: number; remark: string; body: unknown }> {
    const request = createRequest(
      code,
      { ...fields },
      body === null ? undefined : encodeJson(body),
    );
    signRequest(request, { accessKey: username, secretKey: password });
    const answer = await this.ask(request, from);
    const text = new TextDecoder().decode(answer.body);
    return {
      code: answer.code,
      remark: answer.remark ?? "",
      body: text === "" ? null : JSON.parse(text),
    };
  }

  /** Makes a user whose password is its name and "-password". */
  async user(username: string, entries: unknown[] = []) {
    const user = { username, password: `${username}-password` };
    const made = await this.signed(3001, { username }, user);
    if (made.code !== 0) throw new Error(made.remark);
    if (entries.length > 0) await this.allow(username, entries);
    return user;
  }

  /** Adds policy entries. */
  async allow(username: string, entries: unknown[], policyType = "Custom") {
    const subject = `User:${username}`;
    const made = await this.signed(3006, { subject }, {
      subject,
      policies: [{ policyType, entries }],
    });
    if (made.code !== 0) throw new Error(made.remark);
  }
}

/** A policy entry as AclInfo has it. */
export function entry(
  resource: string,
  actions: string,
  decision = "Allow",
  sourceIps: string[] = [],
) {
  return { resource, actions: actions.split(","), decision, sourceIps };
}
