/** TransactionClient: a producer of transactions over one bare connection. */
import { assertEquals } from "@std/assert";
import { decodeMessageId } from "../../src/model/message_id.ts";
import { TopicNames } from "../../src/model/topic_names.ts";
import { RequestCode } from "../../src/protocol/request_code.ts";
import { RawClient } from "./raw_client.ts";

export const COMMIT = "8";
export const ROLLBACK = "12";
const bytesOf = (text: string) => new TextEncoder().encode(text);

/** Where a half message is, as requests name it. */
export interface Half {
  readonly commitLogOffset: string;
  readonly tranStateTableOffset: string;
}

/** Producer group `pg`, topic T, queue 0. */
export class TransactionClient {
  private constructor(readonly raw: RawClient) {}

  static async open(address: string): Promise<TransactionClient> {
    const raw = await RawClient.open(address);
    const heartbeat = {
      clientID: "p@1",
      producerDataSet: [{ groupName: "pg" }],
      consumerDataSet: [],
    };
    const body = bytesOf(JSON.stringify(heartbeat));
    await raw.invoke(RequestCode.HEART_BEAT, {}, body);
    return new TransactionClient(raw);
  }

  close(): void {
    this.raw.close();
  }

  async send(key: string): Promise<Half> {
    const properties =
      `TRAN_MSG\u0001true\u0002PGROUP\u0001pg\u0002UNIQ_KEY\u0001${key}\u0002`;
    // As a client sends it: born now, else it is too old to wait for.
    const sent = await this.raw.invoke(RequestCode.SEND_MESSAGE_V2, {
      a: "pg",
      b: "T",
      c: "TBW102",
      d: "8",
      e: "0",
      f: "4",
      g: String(Date.now()),
      h: "0",
      i: properties,
      j: "0",
      k: "false",
      m: "false",
    }, bytesOf(key));
    assertEquals(sent.code, 0, sent.remark ?? "");
    const { phyOffset } = decodeMessageId(sent.extFields.msgId!)!;
    return {
      commitLogOffset: String(phyOffset),
      tranStateTableOffset: sent.extFields.queueOffset!,
    };
  }

  async end(
    { commitLogOffset, tranStateTableOffset }: Half,
    commitOrRollback: string,
  ): Promise<void> {
    const fields = {
      producerGroup: "pg",
      commitLogOffset,
      tranStateTableOffset,
      commitOrRollback,
      fromTransactionCheck: "true",
      msgId: "",
    };
    const { code, remark } = await this.raw.invoke(
      RequestCode.END_TRANSACTION,
      fields,
    );
    assertEquals(code, 0, remark ?? "");
  }

  /** What the broker asked last about a message. */
  asked(key: string): Half | undefined {
    const request = this.raw.requests.findLast((it) =>
      it.code === RequestCode.CHECK_TRANSACTION_STATE &&
      it.extFields.msgId === key
    );
    return request?.extFields as Half | undefined;
  }

  /** True once the broker has nothing more to ask about. */
  async isWorkedOff(): Promise<boolean> {
    const queue = { topic: TopicNames.RMQ_SYS_TRANS_HALF_TOPIC, queueId: "0" };
    const max = await this.raw.invoke(RequestCode.GET_MAX_OFFSET, queue);
    const stored = await this.raw.invoke(RequestCode.QUERY_CONSUMER_OFFSET, {
      ...queue,
      consumerGroup: "CID_RMQ_SYS_TRANS",
    });
    return stored.code === 0 &&
      stored.extFields.offset === max.extFields.offset;
  }

  /** Keys of the messages of T, in order. */
  async delivered(): Promise<string[]> {
    const pulled = await this.raw.pull("readers", "T", 0, 0);
    const text = new TextDecoder("latin1").decode(pulled.body);
    return text.split("UNIQ_KEY\u0001").slice(1)
      .map((it) => /^\w+/.exec(it)![0]);
  }
}
