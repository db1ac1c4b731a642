/** ClientChannelInfo: one client as the broker knows it (reference 11.3). */
import type { RemotingConnection } from "../remoting/request_processor.ts";

/** A client instance on its connection. */
export interface ClientChannelInfo {
  readonly clientId: string;
  /** LanguageCode name. */
  readonly language: string;
  /** Version ordinal (reference 1.5). */
  readonly version: number;
  readonly connection: RemotingConnection;
  /** Wall clock of the last heartbeat, to be shown. */
  lastUpdateTimestamp: number;
  /** Monotonic time of the last heartbeat: what decides who lives. */
  lastUpdateMs: number;
}
