import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "node:test";
import { HeaderError } from "../../src/protocol/header/field_reader.ts";
import {
  decodePullMessageRequestHeader,
  encodePullMessageRequestHeader,
} from "../../src/protocol/header/pull_message_request_header.ts";
import {
  decodePullMessageResponseHeader,
  encodePullMessageResponseHeader,
} from "../../src/protocol/header/pull_message_response_header.ts";
import {
  decodeSendMessageRequestHeader,
  decodeSendMessageRequestHeaderV2,
  encodeSendMessageRequestHeader,
  encodeSendMessageRequestHeaderV2,
  type SendMessageRequestHeader,
} from "../../src/protocol/header/send_message_request_header.ts";
import {
  decodeSendMessageResponseHeader,
  encodeSendMessageResponseHeader,
} from "../../src/protocol/header/send_message_response_header.ts";

const SEND: SendMessageRequestHeader = {
  producerGroup: "p",
  topic: "t",
  defaultTopic: "TBW102",
  defaultTopicQueueNums: 4,
  queueId: -1,
  sysFlag: 0,
  bornTimestamp: 1_700_000_000_000,
  flag: 9,
  properties: "TAGS\u0001TagA\u0002",
  reconsumeTimes: 2,
  unitMode: false,
  maxReconsumeTimes: 16,
  batch: true,
};

describe("send header", () => {
  it("carries the same in long and in one-letter names", () => {
    const long = encodeSendMessageRequestHeader(SEND);
    const short = encodeSendMessageRequestHeaderV2(SEND);
    assertEquals(decodeSendMessageRequestHeader(long), SEND);
    assertEquals(decodeSendMessageRequestHeaderV2(short), SEND);
    assertEquals(short["b"], "t");
    assertEquals(short["m"], "true");
    assertEquals(short["l"], "16");
    assertEquals(long["producerGroup"], "p");
  });

  it("names each mandatory field that is missing", () => {
    for (const name of ["a", "b", "c", "d", "e", "f", "g", "h"]) {
      const fields = encodeSendMessageRequestHeaderV2(SEND);
      delete fields[name];
      assertThrows(
        () => decodeSendMessageRequestHeaderV2(fields),
        HeaderError,
        `the field ${name} of SEND_MESSAGE_V2 is missing`,
      );
    }
  });

  it("does without optional fields and refuses unreadable ones", () => {
    const fields = encodeSendMessageRequestHeaderV2(SEND);
    for (const name of ["i", "j", "k", "l", "m"]) delete fields[name];
    assertEquals(decodeSendMessageRequestHeaderV2(fields), {
      ...SEND,
      properties: "",
      reconsumeTimes: 0,
      maxReconsumeTimes: undefined,
      batch: false,
    });
    fields["j"] = "many";
    assertThrows(
      () => decodeSendMessageRequestHeaderV2(fields),
      HeaderError,
      "field j",
    );
  });

  it("answers with region and trace, which clients read unchecked", () => {
    const header = {
      msgId: "0A",
      queueId: 3,
      queueOffset: 7,
      transactionId: undefined,
      msgRegion: "DefaultRegion",
      traceOn: true,
    };
    const fields = encodeSendMessageResponseHeader(header);
    assertEquals(fields, {
      MSG_REGION: "DefaultRegion",
      TRACE_ON: "true",
      msgId: "0A",
      queueId: "3",
      queueOffset: "7",
    });
    assertEquals(decodeSendMessageResponseHeader(fields), header);
  });
});

describe("pull header", () => {
  it("is read back", () => {
    const header = {
      consumerGroup: "g",
      topic: "t",
      queueId: 1,
      queueOffset: 5,
      maxMsgNums: 32,
      sysFlag: 6,
      commitOffset: 4,
      suspendTimeoutMillis: 15_000,
      subscription: "*",
      subVersion: 3,
      expressionType: "TAG",
      maxMsgBytes: 1024,
      requestSource: 1,
    };
    const fields = encodePullMessageRequestHeader(header);
    assertEquals(decodePullMessageRequestHeader(fields), header);
    for (const name of ["subscription", "expressionType", "subVersion"]) {
      delete fields[name];
    }
    const bare = decodePullMessageRequestHeader(fields);
    assertEquals(bare.subscription, undefined);
    assertEquals(bare.subVersion, 0);
    delete fields["queueOffset"];
    assertThrows(
      () => decodePullMessageRequestHeader(fields),
      HeaderError,
      "queueOffset",
    );
  });

  it("answers with four offsets always", () => {
    const header = {
      suggestWhichBrokerId: 0,
      nextBeginOffset: 8,
      minOffset: 0,
      maxOffset: 9,
      topicSysFlag: 0,
      groupSysFlag: 0,
    };
    const fields = encodePullMessageResponseHeader(header);
    assertEquals(decodePullMessageResponseHeader(fields), header);
    delete fields["minOffset"];
    assertThrows(
      () => decodePullMessageResponseHeader(fields),
      HeaderError,
      "minOffset",
    );
  });
});
