import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { checkAdvertised } from "../../src/cli/advertised_check.ts";
import type { ServerListener } from "../../src/cli/serve.ts";
import { runtime, startBroker } from "../broker/broker_site.ts";
import { FakeLogger } from "../broker/fakes.ts";
import { withTempDirectory } from "../support/temp_directory.ts";

const NOBODY = "127.0.0.1:1";

/** What is logged for a broker that clients are told to find at `advertised`. */
async function told(
  brokerName: string,
  advertised: string,
  bound = "0.0.0.0:10911",
): Promise<string[]> {
  const logger = new FakeLogger();
  const listener = { name: "broker", bound, advertised, why: "" } as const;
  const listeners: ServerListener[] = [listener];
  await checkAdvertised({ ...runtime, logger }, brokerName, listeners);
  return logger.lines;
}

test("145: a start says whether its broker answers at the address that clients are told", () =>
  withTempDirectory(async (folder) => {
    const { address, controller } = await startBroker(folder);
    assertEquals(await told("broker-a", address), [
      `info This broker answers at ${address}, the address that clients are told`,
    ]);
    const other = (await told("broker-b", address))[0]!;
    assert(other.startsWith(`warn At ${address}`), other);
    assert(other.includes("broker broker-a answers"), other);
    const none = (await told("broker-a", NOBODY))[0]!;
    assert(none.startsWith(`warn Nobody answers`), none);
    assert(none.includes(NOBODY) && none.includes("brokerIP1"), none);
    assertEquals(await told("broker-a", NOBODY, NOBODY), []);
    await controller.stop();
  }));
