/** Rig: a server, a client and raw peers over one MemoryNetwork and one VirtualClock. */
import type { LogFields, Logger } from "../../src/io/logger.ts";
import { FrameDecoder } from "../../src/protocol/frame_decoder.ts";
import {
  createRequest,
  type RemotingCommand,
} from "../../src/protocol/remoting_command.ts";
import {
  decodeCommand,
  encodeCommand,
} from "../../src/protocol/remoting_command_codec.ts";
import type { ServerTls } from "../../src/remoting/entrance/tls_ports.ts";
import { RemotingClient } from "../../src/remoting/remoting_client.ts";
import {
  DEFAULT_REMOTING_CLIENT_OPTIONS,
  DEFAULT_REMOTING_SERVER_OPTIONS,
  type RemotingClientOptions,
  type RemotingServerOptions,
} from "../../src/remoting/remoting_options.ts";
import { RemotingServer } from "../../src/remoting/remoting_server.ts";
import type {
  ProcessorTable,
  RemotingConnection,
  RequestProcessor,
} from "../../src/remoting/request_processor.ts";
import { type MemoryConnection, MemoryNetwork } from "./memory_network.ts";
import { VirtualClock } from "./virtual_clock.ts";

/** Keeps the lines of a test. */
export class ListLogger implements Logger {
  readonly lines: { message: string; fields: LogFields }[] = [];
  debug(): void {}
  info(): void {}
  warn(message: string, fields: LogFields = {}): void {
    this.lines.push({ message, fields });
  }
  error(message: string, fields: LogFields = {}): void {
    this.lines.push({ message, fields });
  }
  child(): Logger {
    return this;
  }
}

/** Lets every microtask run that is queued now or follows from one. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await Promise.resolve();
}

/** Reads commands out of chunks. */
export function commandsIn(chunks: readonly Uint8Array[]): RemotingCommand[] {
  const decoder = new FrameDecoder();
  const commands: RemotingCommand[] = [];
  for (const chunk of chunks) {
    decoder.push(chunk, (bytes, start, end) => {
      const command = decodeCommand(bytes, start, end);
      commands.push({ ...command, body: command.body.slice() });
      return true;
    });
  }
  return commands;
}

/** A request frame with its opaque. */
export function requestFrame(
  code: number,
  opaque: number,
  change: Partial<RemotingCommand> = {},
): Uint8Array {
  return encodeCommand({ ...createRequest(code), opaque, ...change });
}

/** One buffer of all parts. */
export function concat(parts: readonly Uint8Array[]): Uint8Array {
  const size = parts.reduce((sum, it) => sum + it.length, 0);
  const joined = new Uint8Array(size);
  let position = 0;
  for (const part of parts) {
    joined.set(part, position);
    position += part.length;
  }
  return joined;
}

/** A peer that writes bytes and keeps what it receives. */
export interface RawPeer {
  readonly connection: MemoryConnection;
  readonly received: Uint8Array[];
  readonly isClosed: boolean;
  answers(): RemotingCommand[];
}

/** Server on port 10911, closed connections and log lines. */
export class RemotingRig {
  readonly clock = new VirtualClock();
  readonly network = new MemoryNetwork();
  readonly logger = new ListLogger();
  readonly opened: RemotingConnection[] = [];
  readonly closed: RemotingConnection[] = [];
  readonly server: RemotingServer;
  readonly address = "127.0.0.1:10911";

  constructor(
    processors: Iterable<readonly [number, RequestProcessor]>,
    options: Partial<RemotingServerOptions> = {},
    serverTls?: ServerTls,
  ) {
    const { clock, logger, network } = this;
    this.server = new RemotingServer(
      { clock, logger, network, serverTls },
      { ...DEFAULT_REMOTING_SERVER_OPTIONS, ...options },
      new Map(processors),
      {
        onOpened: (it) => this.opened.push(it),
        onClosed: (it) => this.closed.push(it),
      },
    );
  }

  async listen(): Promise<this> {
    await this.server.listen({ hostname: "127.0.0.1", port: 10911 });
    return this;
  }

  client(
    options: Partial<RemotingClientOptions> = {},
    processors?: ProcessorTable,
  ): RemotingClient {
    return new RemotingClient(
      this,
      { ...DEFAULT_REMOTING_CLIENT_OPTIONS, ...options },
      processors,
    );
  }

  async peer(): Promise<RawPeer> {
    const received: Uint8Array[] = [];
    const state = { isClosed: false };
    const connection = await this.network.connect(
      { hostname: "127.0.0.1", port: 10911 },
      {
        onData: (bytes) => received.push(bytes.slice()),
        onDrain() {},
        onClose: () => state.isClosed = true,
      },
    );
    return {
      connection,
      received,
      get isClosed() {
        return state.isClosed;
      },
      answers: () => commandsIn(received),
    };
  }

  /** Time passes in steps of 100 ms, each with a tick. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 100) {
      this.clock.advance(100);
      this.server.tick(this.clock.nowMs());
    }
    await settle();
  }
}
