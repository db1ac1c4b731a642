import { test } from "node:test";
import { assertEquals } from "@std/assert";
import type { HAPeerAnswer } from "../../src/broker/ha_peer_inquiry.ts";
import { freeBrokerId } from "../../src/broker/ha_pair_survey.ts";

const peer = (brokerId: number): HAPeerAnswer => ({
  address: `10.0.0.${brokerId}:10911`,
  role: "SLAVE",
  brokerName: "broker-a",
  brokerId,
  epoch: 0,
  maxOffset: 0,
  haAddress: "",
  slaves: [],
  roleChange: "",
});

test("freeBrokerId prefers the configured one, and takes nobody's", () => {
  const members = [new Map([[0, "a:1"], [1, "b:1"]]), new Map([[3, "c:1"]])];
  const survey = { members, peers: [peer(2)] };
  assertEquals(freeBrokerId(survey, 7), 7);
  // Taken in one name server, by a peer that no name server shows, and by none.
  assertEquals(freeBrokerId(survey, 3), 4);
  assertEquals(freeBrokerId(survey, 2), 4);
  assertEquals(freeBrokerId(survey, 0), 4);
  assertEquals(freeBrokerId({ members: [], peers: [peer(0)] }, 0), 1);
});
