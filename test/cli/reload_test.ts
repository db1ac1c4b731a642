import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { reloadConfiguration } from "../../src/cli/reload.ts";
import {
  BROKER_PROGRAM_KEYS,
  loadBrokerConfig,
} from "../../src/config/broker_config.ts";
import { Configuration } from "../../src/config/configuration.ts";
import type { LogFields, Logger } from "../../src/io/logger.ts";

const HOST = {
  hostname: "h",
  homeDirectory: "/home",
  memoryLimitBytes: 1024 ** 3,
  openFilesMax: Infinity,
};

test("SIGHUP names what holds after a restart, and shows no secret of before or after", () => {
  const load = (text: string) =>
    loadBrokerConfig(
      { file: { name: "broker.conf", text }, env: {}, settings: [] },
      "apache",
      HOST,
    );
  const keys = (secret: string) =>
    `adminToken=token-${secret}-long\naccessKey=broker-key\nsecretKey=key-${secret}\n`;
  const configuration = new Configuration(
    BROKER_PROGRAM_KEYS,
    load(keys("before")),
    null,
    () => 0,
  );
  const lines: string[] = [];
  const write = (message: string, fields?: LogFields) =>
    void lines.push(`${message} ${JSON.stringify(fields)}`);
  const logger: Logger = {
    debug: write,
    info: write,
    warn: write,
    error: write,
    child: () => logger,
  };
  reloadConfiguration(
    configuration,
    () => load(`${keys("after-")}listenPort=20911\n`),
    logger,
  );
  const told = lines.join("\n");
  for (const key of ["adminToken", "secretKey", "listenPort"]) {
    assert(told.includes(`${key} was changed and holds after a restart`), told);
  }
  assert(told.includes('{"now":"10911","then":"20911"}'), told);
  assertEquals(/before|after-/.test(told), false, told);
});
