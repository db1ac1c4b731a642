/** ClientOptions: what every client shares; names are those of RocketMQ's ClientConfig. */
import {
  DEFAULT_REMOTING_CLIENT_OPTIONS,
  type RemotingClientOptions,
} from "../remoting/remoting_options.ts";

/** Times are in milliseconds. */
export interface ClientOptions {
  /** `host:port`, several joined by `;`. */
  readonly namesrvAddr: string;
  /** How long one request may take. */
  readonly mqClientApiTimeout: number;
  /** How long a route may be used before it is asked for again. */
  readonly pollNameServerInterval: number;
  readonly heartbeatBrokerInterval: number;
  readonly persistConsumerOffsetInterval: number;
  readonly remoting: RemotingClientOptions;
}

/** As RocketMQ's clients. */
export const DEFAULT_CLIENT_OPTIONS: ClientOptions = Object.freeze({
  namesrvAddr: "",
  mqClientApiTimeout: 3_000,
  pollNameServerInterval: 30_000,
  heartbeatBrokerInterval: 30_000,
  persistConsumerOffsetInterval: 5_000,
  remoting: DEFAULT_REMOTING_CLIENT_OPTIONS,
});

/** The addresses of a `namesrvAddr`, without blanks and repetitions. */
export function namesrvAddrsOf(text: string): string[] {
  const addresses = text.split(/[;,]/).map((it) => it.trim());
  return [...new Set(addresses)].filter((it) => it !== "");
}
