/**
 * WaitMetadataChangeProcessor: tells PocketMQ slaves of a changed table at
 * once (WAIT_METADATA_CHANGE, 31001), where Apache's slaves ask every 10 s.
 *
 * Invariant: at most one request of a connection waits; a newer one takes its
 * place, and the older one is answered.
 */
import {
  decodeMetadataVersions,
  encodeMetadataVersions,
  isSameVersions,
  type MetadataVersions,
} from "../../protocol/body/metadata_versions.ts";
import {
  optionalInt,
  optionalText,
  requireInt,
} from "../../protocol/header/field_reader.ts";
import type { RemotingCommand } from "../../protocol/remoting_command.ts";
import {
  HELD,
  type RemotingConnection,
  type RequestContext,
} from "../../remoting/request_processor.ts";
import { bodyResponse } from "./admin_response.ts";

/** Milliseconds that a request waits at most, whatever it asks for. */
const WAIT_MAX_MS = 60_000;
/** Requests that wait at once; a pair has one. */
const WAITING_MAX = 64;

/** Milliseconds after which a slave that asks no more is not read any more. */
const READABLE_MS = 15_000;

interface Waiting {
  readonly context: RequestContext;
  readonly known: MetadataVersions;
  readonly deadlineMs: number;
}

/** Answers when something changed. */
export class WaitMetadataChangeProcessor {
  readonly #versions: () => MetadataVersions;
  readonly #monotonicMs: () => number;
  readonly #onSlave: (
    brokerAddr: string,
    connection: RemotingConnection,
  ) => void;
  readonly #waiting = new Map<RemotingConnection, Waiting>();
  /** Slaves that clients may read from, and until when that is true. */
  readonly #readable = new Map<
    RemotingConnection,
    { readonly brokerId: number; readonly untilMs: number }
  >();

  /** `onSlave`: the slave at the other end of a connection says what its remoting address is. */
  constructor(
    versions: () => MetadataVersions,
    monotonicMs: () => number,
    onSlave: (brokerAddr: string, connection: RemotingConnection) => void,
  ) {
    this.#versions = versions;
    this.#monotonicMs = monotonicMs;
    this.#onSlave = onSlave;
  }

  /** Requests that wait now. */
  get waitingCount(): number {
    return this.#waiting.size;
  }

  readonly process = (
    context: RequestContext,
    request: RemotingCommand,
  ): RemotingCommand | typeof HELD => {
    const timeoutMs = requireInt(
      request.extFields,
      "timeoutMillis",
      "WaitMetadataChangeRequestHeader",
    );
    this.#noteReadable(context.connection, request);
    const brokerAddr = optionalText(request.extFields, "brokerAddr");
    if (brokerAddr !== undefined) this.#onSlave(brokerAddr, context.connection);
    const known = decodeMetadataVersions(request.body);
    const versions = this.#versions();
    const { connection } = context;
    const isFull = this.#waiting.size >= WAITING_MAX &&
      !this.#waiting.has(connection);
    if (timeoutMs <= 0 || isFull || !isSameVersions(known, versions)) {
      return answerOf(versions);
    }
    this.#waiting.get(connection)?.context.respond(answerOf(versions));
    this.#waiting.set(connection, {
      context,
      known,
      deadlineMs: this.#monotonicMs() + Math.min(timeoutMs, WAIT_MAX_MS),
    });
    return HELD;
  };

  /** True while a slave of that id asks and says that it may be read. */
  hasReadableSlave(brokerId: number): boolean {
    const nowMs = this.#monotonicMs();
    for (const it of this.#readable.values()) {
      if (it.brokerId === brokerId && nowMs < it.untilMs) return true;
    }
    return false;
  }

  /** True while a slave that has these versions waits for others. */
  isKnownToSlave(versions: MetadataVersions): boolean {
    return [...this.#waiting.values()].some(({ known }) =>
      isSameVersions(known, versions)
    );
  }

  onConnectionClosed(connection: RemotingConnection): void {
    this.#readable.delete(connection);
    this.#waiting.delete(connection);
  }

  #noteReadable(
    connection: RemotingConnection,
    { extFields }: RemotingCommand,
  ): void {
    const brokerId = optionalInt(extFields, "readableBrokerId", 0);
    if (brokerId <= 0) this.#readable.delete(connection);
    else if (
      this.#readable.has(connection) || this.#readable.size < WAITING_MAX
    ) {
      const untilMs = this.#monotonicMs() + READABLE_MS;
      this.#readable.set(connection, { brokerId, untilMs });
    }
  }

  /** Every 100 ms. */
  tick(): void {
    if (this.#waiting.size === 0) return;
    const versions = this.#versions();
    const nowMs = this.#monotonicMs();
    for (const [connection, it] of this.#waiting) {
      const isDue = nowMs >= it.deadlineMs;
      if (!isDue && isSameVersions(it.known, versions)) continue;
      this.#waiting.delete(connection);
      it.context.respond(answerOf(versions));
    }
  }

  /** Answers everything now, at shutdown. */
  wakeAll(): void {
    const answer = answerOf(this.#versions());
    for (const it of this.#waiting.values()) it.context.respond({ ...answer });
    this.#waiting.clear();
  }
}

function answerOf(versions: MetadataVersions): RemotingCommand {
  return bodyResponse(encodeMetadataVersions(versions));
}
