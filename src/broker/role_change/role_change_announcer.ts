/** RoleChangeAnnouncer: tells the others of the pair what is under way here (31004). */
import type { Clock } from "../../io/clock.ts";
import {
  decodeRoleChangeAnswer,
  encodeRoleChangeNotice,
  type RoleChangeNotice,
} from "../../protocol/header/role_change_header.ts";
import { PocketmqRequestCode } from "../../protocol/pocketmq_request_code.ts";
import { createRequest } from "../../protocol/remoting_command.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import type { OuterClient } from "../broker_outer_api.ts";
import type { HAPeerAnswer } from "../ha_peer_inquiry.ts";
import type { RoleChangeBoard } from "./role_change_board.ts";

/** Long enough for a living broker, short enough for an operator. */
const TIMEOUT_MS = 1_500;

/** Of one process. */
export class RoleChangeAnnouncer {
  readonly #board: RoleChangeBoard;
  readonly #clock: Clock;
  readonly #told = new Set<string>();

  constructor(board: RoleChangeBoard, clock: Clock) {
    this.#board = board;
    this.#clock = clock;
  }

  /**
   * Tells brokers that have just answered. Why the own change has to wait for another one; null:
   * nobody objects, so far. Never rejects.
   */
  async announce(
    client: OuterClient,
    peers: readonly HAPeerAnswer[],
  ): Promise<string | null> {
    for (const { address, roleChange } of peers) {
      if (roleChange === "") this.#board.settled(address);
    }
    const { own } = this.#board;
    const other = this.#other();
    if (own === null || (other !== null && own.kind === "promotion")) {
      return other;
    }
    const answers = await Promise.all(
      peers.filter((it) => it.maxOffset !== null).map(({ address }) => {
        this.#told.add(address);
        return tell(client, address, own);
      }),
    );
    return this.#other() ?? answers.find((it) => it !== null) ?? null;
  }

  #other(): string | null {
    return this.#board.otherReason(this.#clock.monotonicMs());
  }

  /** Whoever was told of the own change hears that it has ended. Never rejects. */
  async end(client: OuterClient | null): Promise<void> {
    const { own } = this.#board;
    this.#board.end();
    const told = [...this.#told];
    this.#told.clear();
    if (own === null || client === null) return;
    const over = { ...own, isOver: true };
    await Promise.all(told.map((it) => tell(client, it, over)));
  }
}

/** An Apache broker knows no such request, and one that is away objects to nothing. */
async function tell(
  client: OuterClient,
  address: string,
  notice: RoleChangeNotice,
): Promise<string | null> {
  try {
    const { code, extFields } = await client.invoke(
      address,
      createRequest(
        PocketmqRequestCode.ANNOUNCE_ROLE_CHANGE,
        encodeRoleChangeNotice(notice),
      ),
      TIMEOUT_MS,
    );
    return code === ResponseCode.SUCCESS
      ? decodeRoleChangeAnswer(extFields)
      : null;
  } catch {
    return null;
  }
}
