/** AccessControl: stands before every processor of a broker (RocketMQ's aclEnable). */
import type { Clock } from "../io/clock.ts";
import { createResponse } from "../protocol/remoting_command.ts";
import { requestCodeName } from "../protocol/request_code.ts";
import { ResponseCode } from "../protocol/response_code.ts";
import { LogLimiter } from "../remoting/log_limiter.ts";
import type {
  ProcessorGuard,
  RequestProcessor,
} from "../remoting/request_processor.ts";
import { refusalOf } from "./access_validator.ts";
import { PlainAclFile, type PlainAclFilePorts } from "./plain_acl_file.ts";

/** What it needs. */
export interface AccessControlPorts extends PlainAclFilePorts {
  readonly clock: Clock;
}

/** Lets signed requests of known accounts pass. */
export class AccessControl implements ProcessorGuard {
  readonly #clock: Clock;
  readonly #file: PlainAclFile;
  readonly #log: LogLimiter;

  /** Reads the file; throws AclFileError. */
  constructor(ports: AccessControlPorts, path: string) {
    this.#clock = ports.clock;
    this.#file = new PlainAclFile(ports, path);
    this.#log = new LogLimiter(ports.logger, ports.clock);
  }

  wrap(table: Map<number, RequestProcessor>): void {
    for (const [code, processor] of table) {
      table.set(code, this.#guarded(processor));
    }
  }

  tick(): void {
    this.#file.tick(this.#clock.monotonicMs());
  }

  /** SIGHUP. */
  reload(): void {
    this.#file.reload();
  }

  #guarded(processor: RequestProcessor): RequestProcessor {
    return (context, request) => {
      const { remoteAddress, remoteHost } = context.connection;
      const refusal = refusalOf(this.#file.acl, request, remoteHost.address);
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
