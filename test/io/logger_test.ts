import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { spawnSync } from "node:child_process";
import process from "node:process";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import {
  formatJsonLine,
  formatTextLine,
  type LogLine,
} from "../../src/runtime/log_format.ts";
import { SimLogger } from "../sim/sim_logger.ts";
import { openRuntime } from "#runtime";

const WRITER = fileURLToPath(
  new URL("../support/log_writer.ts", import.meta.url),
);

/** What a process of ours writes on standard error when it logs. */
function logOf(level: string, format: string): string {
  const { name } = openRuntime();
  const args = name === "deno" ? ["run", "-A", WRITER] : [WRITER];
  const ended = spawnSync(process.execPath, [...args, level, format]);
  assertEquals(String(ended.stdout), "");
  return String(ended.stderr);
}

const LINE: LogLine = {
  timestamp: Date.UTC(2026, 0, 2, 3, 4, 5, 6),
  level: "warning",
  category: ["pocketmq", "broker", "ha"],
  rawMessage: "Slave {addr} is slow",
  properties: { addr: "10.0.0.6:51234", lagMs: 4, why: "no ack" },
};

describe("Logger", () => {
  it("writes sentences for people to standard error", () => {
    const lines = logOf("info", "text").trimEnd().split("\n");
    assertEquals(lines.map((it) => it.slice(it.indexOf(" ") + 1)), [
      "INFO The root speaks",
      "WARN broker.ha: Slave {addr} is slow lagMs=4",
      'ERROR broker: It broke error="Error: Disk gone"',
    ]);
    assert(!lines.join("").includes("\x1b"), "no colours in a pipe");
  });

  it("writes JSON lines for machines", () => {
    const lines = logOf("debug", "json").trimEnd().split("\n")
      .map((it) => JSON.parse(it));
    assertEquals(lines.length, 4);
    assertEquals(lines[1].message, "Details");
    assertEquals(lines[2].category, "broker.ha");
    assertEquals(lines[2].level, "warn");
    assertEquals(lines[2].lagMs, 4);
    assertEquals(lines[3].error, "Error: Disk gone");
    assert(Math.abs(Date.parse(lines[0].time) - Date.now()) < 60_000);
  });

  it("leaves out what is below its level", () => {
    assertEquals(logOf("error", "text").trimEnd().split("\n").length, 1);
  });

  it("a simulated one keeps the same lines", () => {
    const logger = new SimLogger();
    logger.child("broker").child("ha").warn("Slow", { lagMs: 4 });
    assertEquals(logger.lines, [{
      level: "warn",
      category: "broker.ha",
      message: "Slow",
      fields: { lagMs: 4 },
    }]);
    assertEquals(logger.messages("warn"), ["Slow"]);
  });
});

describe("log lines", () => {
  it("text has time, level, category, sentence and fields", () => {
    assertEquals(
      formatTextLine(LINE, false),
      "2026-01-02T03:04:05.006Z WARN broker.ha: Slave {addr} is slow " +
        'addr=10.0.0.6:51234 lagMs=4 why="no ack"\n',
    );
  });

  it("colours only where there is a terminal", () => {
    assertStringIncludes(formatTextLine(LINE, true), "\x1b[33mWARN\x1b[0m");
  });

  it("a stranger's bytes forge no line", () => {
    const rawMessage = "Junk\n2026 \x1b[2J";
    const line = { ...LINE, rawMessage, properties: { junk: "a\nb" } };
    const text = formatTextLine(line, false);
    assertEquals(text.split("\n").length, 2);
    assert(!text.includes("\x1b"));
    assertEquals(formatJsonLine(line).split("\n").length, 2);
  });

  it("JSON takes every value and keeps its own keys", () => {
    const properties = {
      time: 1,
      size: 2n,
      error: new Error("No"),
      list: [1n],
    };
    assertEquals(JSON.parse(formatJsonLine({ ...LINE, properties })), {
      time: "2026-01-02T03:04:05.006Z",
      level: "warn",
      category: "broker.ha",
      message: "Slave {addr} is slow",
      size: "2",
      error: "Error: No",
      list: ["1"],
      field_time: 1,
    });
  });
});
