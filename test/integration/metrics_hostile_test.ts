/** What strangers send must neither break the text of /metrics nor make it grow. */
import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { createRequest } from "../../src/protocol/remoting_command.ts";
import { RequestCode } from "../../src/protocol/request_code.ts";
import { RawClient } from "../support/raw_client.ts";
import { withSite } from "../support/site.ts";

/** Codes of a peer that tries what there is. */
const CODES = 3_000;
/** Processors are fewer, and so are languages. */
const REQUEST_CODES_MAX = 150;
const LANGUAGES_MAX = 14;
const HOSTILE = [
  'a"} 1',
  "b\\",
  "c\nevil_metric 1",
  'd{x="y"}',
  "e\r\u2028\u0000",
];
const LINE =
  /^(?:# (?:HELP|TYPE) .*|[a-zA-Z_:][\w:]*(?:\{(?:\w+="(?:[^"\\\n]|\\["\\n])*",?)*\})? \S+)$/;

test("/metrics stays whole and small whatever codes, languages and names a peer sends", async () => {
  await withSite(async (site) => {
    const client = await RawClient.open(site.broker);
    await askForAll(client);
    for (const name of HOSTILE) await beat(client, name);
    const text = await (await fetch(`${site.admin}/metrics`)).text();
    const broken = text.split("\n").filter((it) => it !== "" && !LINE.test(it));
    assertEquals(broken, []);
    assert(!/^evil_metric/m.test(text));
    const codes = valuesOf(text, "request_code");
    assert(codes.has("unsupported") && codes.size < REQUEST_CODES_MAX);
    const languages = valuesOf(text, "language");
    assert(languages.has("other") && languages.size <= LANGUAGES_MAX);
    client.close();
  });
});

async function askForAll(client: RawClient): Promise<void> {
  for (let from = 40_000; from < 40_000 + CODES; from += 500) {
    const codes = Array.from({ length: 500 }, (_, it) => from + it);
    const answers = await Promise.all(codes.map((it) => client.invoke(it)));
    assert(answers.every((it) => it.code === 3));
  }
}

/** As a consumer and a producer of groups of that name, in a language of that name. */
async function beat(client: RawClient, name: string): Promise<void> {
  const body = {
    clientID: name,
    producerDataSet: [{ groupName: name }],
    consumerDataSet: [{
      groupName: name,
      consumeType: "CONSUME_PASSIVELY",
      messageModel: "CLUSTERING",
      consumeFromWhere: "CONSUME_FROM_LAST_OFFSET",
      subscriptionDataSet: [{ topic: name, subString: "*" }],
    }],
  };
  const request = createRequest(
    RequestCode.HEART_BEAT,
    {},
    new TextEncoder().encode(JSON.stringify(body)),
  );
  request.language = name;
  await client.invokeCommand(request);
}

function valuesOf(text: string, label: string): Set<string> {
  const pattern = new RegExp(`\\b${label}="((?:[^"\\\\]|\\\\.)*)"`, "g");
  return new Set([...text.matchAll(pattern)].map((it) => it[1]!));
}
