import { test } from "node:test";
import { assertEquals, assertThrows } from "@std/assert";
import { HAFrameError } from "../../src/ha/ha_frame_error.ts";
import {
  decodeReportHeader,
  encodeReportHeader,
  ReportDecoder,
} from "../../src/ha/report_header.ts";
import { hexOf } from "../model/message_fixture.ts";
import { bytesOfHex } from "./ha_fixture.ts";

test("ReportHeader has the bytes of the reference, both ways", () => {
  const golden = "0000000000001000";
  assertEquals(hexOf(encodeReportHeader({ slaveMaxOffset: 4096 })), golden);
  assertEquals(decodeReportHeader(bytesOfHex(golden)), {
    slaveMaxOffset: 4096,
  });
  assertEquals(decodeReportHeader(bytesOfHex("00000000001000")), undefined);
});

test("ReportHeader refuses what no slave sends", () => {
  for (const hex of ["ffffffffffffffff", "7fffffffffffffff"]) {
    assertThrows(
      () => decodeReportHeader(bytesOfHex(hex)),
      HAFrameError,
      "slaveMaxOffset is",
    );
  }
});

test("ReportDecoder finds the same reports whatever the cuts", () => {
  const values = [0, 4096, 4096, 70_000, 2 ** 40 + 3];
  const stream = Uint8Array.from(
    values.flatMap((it) => [...encodeReportHeader({ slaveMaxOffset: it })]),
  );
  for (let first = 0; first <= stream.length; first++) {
    for (let second = first; second <= stream.length; second++) {
      const found: number[] = [];
      const decoder = new ReportDecoder();
      const onReport = (it: number) => void found.push(it);
      decoder.push(stream.subarray(0, first), onReport);
      decoder.push(stream.subarray(first, second), onReport);
      decoder.push(stream.subarray(second), onReport);
      assertEquals(found, values);
    }
  }
});
