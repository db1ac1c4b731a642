import { test } from "node:test";
import { assertEquals, assertThrows } from "@std/assert";
import { HAFrameError } from "../../src/ha/ha_frame_error.ts";
import {
  decodeTransferHeader,
  encodeTransferHeader,
  TRANSFER_BODY_SIZE_MAX,
  TransferDecoder,
} from "../../src/ha/transfer_header.ts";
import { hexOf } from "../model/message_fixture.ts";
import { SimRandom } from "../sim/sim_random.ts";
import { bytesOfHex } from "./ha_fixture.ts";

test("TransferHeader has the bytes of the reference, both ways", () => {
  const golden = "000000000000100000000000";
  const header = { phyOffset: 4096, bodySize: 0 };
  assertEquals(hexOf(encodeTransferHeader(header)), golden);
  assertEquals(decodeTransferHeader(bytesOfHex(golden)), header);
  const big = { phyOffset: 2 ** 53 - 1, bodySize: 32_768 };
  assertEquals(
    hexOf(encodeTransferHeader(big)),
    "001fffffffffffff00008000",
  );
  assertEquals(decodeTransferHeader(encodeTransferHeader(big)), big);
  assertEquals(decodeTransferHeader(bytesOfHex(golden).subarray(1)), undefined);
});

test("TransferHeader refuses what no master sends", () => {
  const refused: [hex: string, field: string][] = [
    ["ffffffffffffffff00000000", "phyOffset is -1"],
    ["002000000000000000000000", "phyOffset is 9007199254740992"],
    ["7fffffffffffffff00000000", "phyOffset is 9223372036854775807"],
    ["0000000000000000ffffffff", "bodySize is -1"],
    ["00000000000000007fffffff", "bodySize is 2147483647"],
    ["000000000000000001000001", `bodySize is ${TRANSFER_BODY_SIZE_MAX + 1}`],
  ];
  for (const [hex, message] of refused) {
    const decode = () => decodeTransferHeader(bytesOfHex(hex));
    assertThrows(decode, HAFrameError, message);
  }
});

test("TransferDecoder finds the same frames whatever the cuts", () => {
  const random = new SimRandom(7);
  const parts: Uint8Array[] = [];
  const expected: string[] = [];
  let offset = 1000;
  for (const bodySize of [0, 1, 12, 0, 0, 40, 5]) {
    const body = random.bytes(bodySize);
    parts.push(encodeTransferHeader({ phyOffset: offset, bodySize }), body);
    expected.push(`${offset}+${bodySize}=${hexOf(body)}`);
    offset += bodySize;
  }
  const stream = Uint8Array.from(parts.flatMap((it) => [...it]));
  for (let first = 0; first <= stream.length; first++) {
    for (let second = first; second <= stream.length; second += 7) {
      const found: string[] = [];
      const decoder = new TransferDecoder();
      const sink = {
        onHeader: (at: number, size: number) =>
          void found.push(`${at}+${size}=`),
        onBody: (body: Uint8Array) =>
          void (found[found.length - 1] += hexOf(body)),
      };
      decoder.push(stream.subarray(0, first), sink);
      decoder.push(stream.subarray(first, second), sink);
      decoder.push(stream.subarray(second), sink);
      assertEquals(found, expected);
    }
  }
});
