/** AccessControl: stands before every processor of a broker (RocketMQ's aclEnable). */
import type { Clock } from "../io/clock.ts";
import { createResponse } from "../protocol/remoting_command.ts";
import { requestCodeName } from "../protocol/request_code.ts";
import { ResponseCode } from "../protocol/response_code.ts";
import { LogLimiter } from "../remoting/log_limiter.ts";
import type {
  GuardedBroker,
  ProcessorGuard,
  RequestProcessor,
} from "../remoting/request_processor.ts";
import { refusalOf } from "./access_validator.ts";
import { aclProcessors } from "./accounts/acl_processors.ts";
import {
  type PlainAclFilePorts,
  PlainAclFiles,
} from "./accounts/plain_acl_files.ts";

/** What it needs. */
export interface AccessControlPorts extends PlainAclFilePorts {
  readonly clock: Clock;
}

/** Lets signed requests of known accounts pass. */
export class AccessControl implements ProcessorGuard {
  readonly #ports: AccessControlPorts;
  readonly #files: PlainAclFiles;
  readonly #log: LogLimiter;

  /** Reads the files; `path` is that of plain_acl.yml. Throws AclFileError. */
  constructor(ports: AccessControlPorts, path: string) {
    this.#ports = ports;
    this.#files = new PlainAclFiles(ports, path);
    this.#log = new LogLimiter(ports.logger, ports.clock);
  }

  wrap(table: Map<number, RequestProcessor>, broker: GuardedBroker): void {
    const { clock, logger } = this.#ports;
    const deps = { files: this.#files, clock, logger, broker };
    for (const [code, processor] of aclProcessors(deps)) {
      table.set(code, processor);
    }
    for (const [code, processor] of table) {
      table.set(code, this.#guarded(processor));
    }
  }

  tick(): void {
    this.#files.tick(this.#ports.clock.monotonicMs());
  }

  /** SIGHUP. */
  reload(): void {
    this.#files.reload();
  }

  #guarded(processor: RequestProcessor): RequestProcessor {
    return (context, request) => {
      const { remoteAddress, remoteHost } = context.connection;
      const refusal = refusalOf(this.#files.acl, request, remoteHost.address);
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
}
