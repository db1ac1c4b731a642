/**
 * UserAccess: stands before every processor of a broker with authenticationEnabled: who signs, and,
 * with authorizationEnabled, what that user's policies say. Refusals are Apache's sentences, with
 * what to do behind them, and its code 16.
 */
import { shown } from "../../base/shown.ts";
import type { Clock } from "../../io/clock.ts";
import type { Logger } from "../../io/logger.ts";
import { formatIpAddress } from "../../model/socket_address.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../../protocol/remoting_command.ts";
import { requestCodeName } from "../../protocol/request_code.ts";
import { accessKeyOf, isSignedWith } from "../../protocol/request_signature.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import { LogLimiter } from "../../remoting/log_limiter.ts";
import type {
  GuardedBroker,
  ProcessorGuard,
  RequestProcessor,
} from "../../remoting/request_processor.ts";
import type { AccessResource, AccessRule } from "../access_rule.ts";
import { accessRuleOf } from "../request_access.ts";
import { AuthProcessors } from "./auth_processors.ts";
import type { AuthStore } from "./auth_store.ts";
import type { PasswordSeal } from "./password_seal.ts";
import { resourceKey } from "./resource_pattern.ts";
import type { User } from "./user.ts";

/** Keys of the configuration. */
export interface UserAccessOptions {
  readonly authorizationEnabled: boolean;
  /** Codes that need no signature, and codes that need no policy. */
  readonly authenticationWhitelist: ReadonlySet<number>;
  readonly authorizationWhitelist: ReadonlySet<number>;
  /** What `Cluster:` resources are called. */
  readonly clusterName: string;
}

/** What it needs. */
export interface UserAccessPorts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly store: AuthStore;
  readonly seal: PasswordSeal;
}

const NAME_LENGTH_MAX = 64;

/** The guard of 5.x. */
export class UserAccess implements ProcessorGuard {
  readonly #ports: UserAccessPorts;
  readonly #options: UserAccessOptions;
  readonly #log: LogLimiter;

  constructor(ports: UserAccessPorts, options: UserAccessOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#log = new LogLimiter(ports.logger, ports.clock);
  }

  /** Users and policies, which slaves take over. */
  get table(): AuthStore {
    return this.#ports.store;
  }

  wrap(table: Map<number, RequestProcessor>, broker: GuardedBroker): void {
    const { logger, seal, store } = this.#ports;
    const processors = new AuthProcessors({
      store,
      seal,
      logger,
      isSlave: () => broker.isSlave(),
    });
    for (const [code, processor] of processors.entries()) {
      table.set(code, processor);
    }
    for (const [code, processor] of table) {
      table.set(code, this.#guarded(processor));
    }
  }

  tick(): void {
    // Users change by requests alone.
  }

  #guarded(processor: RequestProcessor): RequestProcessor {
    return (context, request) => {
      const { remoteAddress, remoteHost } = context.connection;
      const refusal = this.refusalOf(request, remoteHost.address);
      if (refusal === null) return processor(context, request);
      this.#log.warn(
        `refused-${request.code}`,
        `${
          requestCodeName(request.code)
        } of ${remoteAddress} was refused: ${refusal}`,
      );
      return createResponse(ResponseCode.NO_PERMISSION, refusal);
    };
  }

  /** One sentence; null for a request that may pass. Throws BodyError for an unreadable body. */
  refusalOf(
    request: RemotingCommand,
    remoteAddress: Uint8Array,
  ): string | null {
    const { authenticationWhitelist, authorizationEnabled } = this.#options;
    const signer = this.#signerOf(request);
    if (typeof signer === "string") {
      if (!authenticationWhitelist.has(request.code)) return signer;
      return authorizationEnabled
        ? this.#policyRefusal(undefined, request, remoteAddress)
        : null;
    }
    if (!authorizationEnabled || signer.userType === "Super") return null;
    return this.#policyRefusal(signer, request, remoteAddress);
  }

  /** Who has signed; else why nobody has. */
  #signerOf(request: RemotingCommand): User | string {
    const username = accessKeyOf(request) ?? "";
    if (username === "") {
      return "username cannot be null. This broker asks for signed requests, give the client its accessKey and secretKey";
    }
    const name = shown(username, NAME_LENGTH_MAX);
    const user = this.#ports.store.table.users.get(username);
    if (user === undefined) return `User:${name} is not found.`;
    if (user.userStatus === "disable") return `User:${name} is disabled.`;
    return isSignedWith(request, user.password)
      ? user
      : `check signature failed. The password of ${name} is another one here`;
  }

  #policyRefusal(
    user: User | undefined,
    request: RemotingCommand,
    remoteAddress: Uint8Array,
  ): string | null {
    if (this.#options.authorizationWhitelist.has(request.code)) return null;
    const rule = accessRuleOf(request.code);
    for (const resource of rule.resources(request)) {
      const refusal = this.#resourceRefusal(
        user,
        rule,
        resource,
        remoteAddress,
      );
      if (refusal !== null) return refusal;
    }
    return null;
  }

  #resourceRefusal(
    user: User | undefined,
    { actions }: AccessRule,
    resource: AccessResource,
    remoteAddress: Uint8Array,
  ): string | null {
    const name = resource.kind === "Cluster"
      ? this.#options.clusterName
      : resource.name;
    const { kind } = resource;
    // What is sent to the retry topic of a group, the group itself sends back.
    const wanted = kind === "Group" && actions.includes("PUB")
      ? ["SUB" as const]
      : actions;
    const policies = user && this.#ports.store.table.policiesOf(user.username);
    const decision = policies?.decide({
      kind,
      name,
      actions: wanted,
      remoteAddress,
    });
    if (decision === "Allow") return null;
    const who = user === undefined
      ? "Nobody"
      : `User:${shown(user.username, NAME_LENGTH_MAX)}`;
    const what = resourceKey({
      type: kind,
      kind: "LITERAL",
      name: shown(name),
    });
    return `${who} has no permission to access ${what} from ${
      formatIpAddress(remoteAddress)
    }, ${
      decision === "Deny" ? "the decision is deny." : "no matched policies."
    } It takes ${wanted.join(" or ")}`;
  }
}
