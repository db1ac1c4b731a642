/** RawClient: one remoting connection that sends any command and waits for its answer. */
import { connect, type Socket } from "node:net";
import { FrameDecoder } from "../../src/protocol/frame_decoder.ts";
import {
  createRequest,
  type ExtFields,
  isResponse,
  type RemotingCommand,
} from "../../src/protocol/remoting_command.ts";
import {
  decodeCommand,
  encodeCommand,
} from "../../src/protocol/remoting_command_codec.ts";

/** A client without any knowledge of topics, retries or reconnects. */
export class RawClient {
  readonly #socket: Socket;
  readonly #decoder = new FrameDecoder();
  readonly #waiting = new Map<number, {
    resolve: (answer: RemotingCommand) => void;
    reject: (error: Error) => void;
  }>();
  #opaque = 0;
  #isClosed = false;
  /** Requests that the peer sent. */
  readonly requests: RemotingCommand[] = [];

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (bytes) => this.#onData(bytes as Uint8Array));
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#isClosed = true;
      for (const it of this.#waiting.values()) {
        it.reject(new Error("The connection was closed"));
      }
      this.#waiting.clear();
    });
  }

  static open(address: string): Promise<RawClient> {
    const [host, port] = address.split(":");
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), host!);
      socket.once("error", reject);
      socket.once("connect", () => resolve(new RawClient(socket)));
    });
  }

  /** Over a connection that somebody else made, encrypted or behind a header. */
  static over(socket: Socket): RawClient {
    return new RawClient(socket);
  }

  /** Sends a request; rejects when the connection ends first. */
  invoke(
    code: number,
    extFields: ExtFields = {},
    body?: Uint8Array,
  ): Promise<RemotingCommand> {
    return this.invokeCommand(createRequest(code, extFields, body));
  }

  /** Sends a request as it is, but for its number; rejects when the connection ends first. */
  invokeCommand(request: RemotingCommand): Promise<RemotingCommand> {
    request.opaque = ++this.#opaque;
    return new Promise((resolve, reject) => {
      if (this.#isClosed) throw new Error("The connection has been closed");
      this.#waiting.set(request.opaque, { resolve, reject });
      this.#socket.write(encodeCommand(request));
    });
  }

  /** A send (310) with the fields that every client gives. */
  send(
    topic: string,
    queueId: number,
    body: Uint8Array,
    properties = "",
  ): Promise<RemotingCommand> {
    return this.invoke(310, {
      a: "raw-producers",
      b: topic,
      c: "TBW102",
      d: "8",
      e: String(queueId),
      f: "0",
      g: "1700000000000",
      h: "0",
      i: properties,
      j: "0",
      k: "false",
      m: "false",
    }, body);
  }

  /** A pull (11) without suspension; all tags. */
  pull(
    group: string,
    topic: string,
    queueId: number,
    queueOffset: number,
    suspendMs = 0,
  ): Promise<RemotingCommand> {
    return this.invoke(11, {
      consumerGroup: group,
      topic,
      queueId: String(queueId),
      queueOffset: String(queueOffset),
      maxMsgNums: "32",
      sysFlag: suspendMs > 0 ? "6" : "4",
      commitOffset: "0",
      suspendTimeoutMillis: String(suspendMs),
      subscription: "*",
      subVersion: "0",
      expressionType: "TAG",
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #onData(bytes: Uint8Array): void {
    this.#decoder.push(new Uint8Array(bytes), (buffer, start, end) => {
      const command = decodeCommand(buffer, start, end);
      if (!isResponse(command)) {
        this.requests.push({ ...command, body: command.body.slice() });
        return true;
      }
      const waiting = this.#waiting.get(command.opaque);
      this.#waiting.delete(command.opaque);
      waiting?.resolve({ ...command, body: command.body.slice() });
      return true;
    });
  }
}
