import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { RoleChangeBoard } from "../../../src/broker/role_change/role_change_board.ts";
import type { RoleChangeNotice } from "../../../src/protocol/header/role_change_header.ts";

const A: RoleChangeNotice = {
  brokerName: "broker-a",
  brokerAddr: "10.0.0.5:10911",
  haServerAddr: "10.0.0.5:10912",
  kind: "promotion",
  maxOffset: 100,
  isOver: false,
};
const B: RoleChangeNotice = {
  ...A,
  brokerAddr: "10.0.0.6:10911",
  haServerAddr: "10.0.0.6:10912",
};

const PROMOTED = "is being promoted to master: wait until that has ended";

/** Two nodes that promote themselves at one time. */
class Race {
  readonly boards = { a: new RoleChangeBoard(), b: new RoleChangeBoard() };
  readonly objections = { a: false, b: false };
  readonly outcomes = { a: "", b: "" };

  constructor(
    readonly notices: Record<"a" | "b", RoleChangeNotice>,
  ) {}

  begin(who: "a" | "b"): void {
    this.boards[who].begin(this.notices[who]);
  }

  announce(who: "a" | "b"): void {
    if (this.boards[who].otherReason(0) !== null) return;
    const other = who === "a" ? "b" : "a";
    const objection = this.boards[other].hear(this.notices[who], 0);
    this.objections[who] = objection !== null;
  }

  decide(who: "a" | "b"): void {
    const isRefused = this.objections[who] ||
      this.boards[who].decide(0) !== null;
    this.outcomes[who] = isRefused ? "refused" : "promoted";
  }
}

/** Every order of both nodes' steps, each node's own in order. */
function* orders(a: number, b: number, done = ""): Iterable<string> {
  if (a + b === 0) yield done;
  if (a > 0) yield* orders(a - 1, b, done + "a");
  if (b > 0) yield* orders(a, b - 1, done + "b");
}

test("of two promotions at one time one goes on, in every order of their steps", () => {
  const steps = ["begin", "announce", "decide"] as const;
  const pairs = [[A, B], [B, A], [A, { ...B, maxOffset: 101 }]] as const;
  let count = 0;
  for (const [a, b] of pairs) {
    for (const order of orders(3, 3)) {
      const race = new Race({ a, b });
      const at = { a: 0, b: 0 };
      for (const it of order) {
        const who = it as "a" | "b";
        race[steps[at[who]++]!](who);
      }
      const outcomes = Object.values(race.outcomes).sort();
      assertEquals(outcomes, ["promoted", "refused"], order);
      count++;
    }
  }
  assertEquals(count, 60);
});

test("side by side the longer log goes on, of equal logs the smaller address", () => {
  const winner = (a: RoleChangeNotice, b: RoleChangeNotice) => {
    const race = new Race({ a, b });
    race.begin("a");
    race.begin("b");
    race.announce("b");
    race.announce("a");
    race.decide("a");
    race.decide("b");
    return race.outcomes.a === "promoted" ? "a" : "b";
  };
  assertEquals(winner(A, B), "a");
  assertEquals(winner(B, A), "b");
  assertEquals(winner(A, { ...B, maxOffset: 101 }), "b");
});

test("a change at another broker is told until it has ended, was settled, or is too old", () => {
  const board = new RoleChangeBoard();
  assertEquals(board.reason(0), null);
  assertEquals(board.hear(B, 0), null);
  assertEquals(board.reason(0), `Broker ${B.brokerAddr} ${PROMOTED}`);
  assertEquals(board.decide(0), board.reason(0));
  board.hear({ ...B, isOver: true }, 1);
  assertEquals([board.reason(1), board.decide(1)], [null, null]);
  board.end();
  board.hear({ ...B, kind: "demotion" }, 1);
  assertEquals(
    board.reason(1),
    `Broker ${B.brokerAddr} is being demoted to a slave: wait until that has ended`,
  );
  board.settled(B.brokerAddr);
  assertEquals(board.reason(1), null);
  // Whoever died meanwhile says nothing more.
  board.hear(B, 0);
  assertEquals([board.reason(29_999) !== null, board.reason(30_000)], [
    true,
    null,
  ]);
});

test("a demotion under way objects to promotions, and is no reason against another one", () => {
  const board = new RoleChangeBoard();
  board.begin({ ...A, kind: "demotion" });
  assertEquals(
    board.hear({ ...B, maxOffset: 1_000 }, 0),
    `Broker ${A.brokerAddr} is being demoted to a slave: wait until that has ended`,
  );
  assertEquals(board.hear({ ...B, kind: "demotion" }, 0), null);
  assertEquals(board.reason(0), "This broker is being demoted to a slave");
});

test("strangers cannot fill the board", () => {
  const board = new RoleChangeBoard();
  for (let host = 0; host < 200; host++) {
    board.hear({ ...B, brokerAddr: `10.0.1.${host}:10911` }, host);
  }
  for (let host = 192; host < 200; host++) {
    board.settled(`10.0.1.${host}:10911`);
  }
  assertEquals(board.reason(200), null);
});
