/**
 * The load generator, a process of its own under Bun:
 * `load_client.ts send|consume --port P [--seconds N] [--connections N]
 *  [--in-flight N] [--size BYTES] [--rate PER_SECOND] [--queues N] [--topic T]`.
 * Progress goes to standard error, the result as one JSON line to standard output.
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { Latencies } from "./latencies.ts";
import { LoadConnection, requestFrame } from "./load_connection.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    port: { type: "string" },
    seconds: { type: "string", default: "5" },
    connections: { type: "string", default: "1" },
    "in-flight": { type: "string", default: "64" },
    size: { type: "string", default: "1024" },
    rate: { type: "string", default: "0" },
    queues: { type: "string", default: "8" },
    topic: { type: "string", default: "BenchTopic" },
    count: { type: "string", default: "0" },
  },
});
const port = Number(values.port);
const durationMs = Number(values.seconds) * 1000;
const inFlight = Number(values["in-flight"]);
const bodySize = Number(values.size);
const rate = Number(values.rate);
const queues = Number(values.queues);
const countMax = Number(values.count);

const latencies = new Latencies();
let messages = 0;
let bytes = 0;
let failures = 0;
let requests = 0;
let lastCode = 0;
const startedAt = performance.now();
const isOver = () =>
  performance.now() - startedAt >= durationMs ||
  (countMax > 0 && requests >= countMax);

/** Sends: 1 request per message, queues in turn. */
async function send(): Promise<void> {
  const body = crypto.getRandomValues(
    new Uint8Array(Math.min(bodySize, 65536)),
  );
  const whole = new Uint8Array(bodySize).map((_, i) => body[i % body.length]!);
  const frameOf = (opaque: number) =>
    requestFrame(310, opaque, {
      a: "bench-producers",
      b: values.topic,
      c: "TBW102",
      d: values.queues,
      e: String(opaque % queues),
      f: "0",
      g: String(Date.now()),
      h: "0",
      i: `UNIQ_KEY\u00017F000001${
        opaque.toString(16).toUpperCase().padStart(24, "0")
      }\u0002WAIT\u0001true\u0002TAGS\u0001TagA\u0002`,
      j: "0",
      k: "false",
      l: "0",
      m: "false",
    }, whole);
  await drive(frameOf, () => {
    messages++;
    bytes += bodySize;
  });
}

/** Keeps `inFlight` requests on every connection, or `rate` a second over all. */
async function drive(
  frameOf: (opaque: number) => Uint8Array,
  onFound: () => void,
): Promise<void> {
  const template = templateOf(frameOf);
  await Promise.all(
    Array.from({ length: Number(values.connections) }, async () => {
      const done = Promise.withResolvers<void>();
      const sentAt = new Map<number, number>();
      const issue = (count: number) => {
        if (count === 0) return;
        connection.write(template(count, (opaque) => {
          requests++;
          sentAt.set(opaque, performance.now());
        }));
      };
      let credit = 0;
      const connection = await LoadConnection.open(port, (answer) => {
        latencies.add(performance.now() - sentAt.get(answer.opaque)!);
        sentAt.delete(answer.opaque);
        if (answer.code === 0) onFound();
        else {
          failures++;
          lastCode = answer.code;
        }
        if (isOver()) {
          if (sentAt.size === 0) done.resolve();
        } else if (rate === 0 && ++credit >= Math.max(1, inFlight / 4)) {
          issue(credit);
          credit = 0;
        }
      });
      if (rate === 0) issue(inFlight);
      else pace(issue, () => sentAt.size, done.resolve);
      await done.promise;
      connection.close();
    }),
  );
}

function pace(
  issue: (count: number) => void,
  waiting: () => number,
  finish: () => void,
): void {
  const share = rate / Number(values.connections);
  let issued = 0;
  const timer = setInterval(() => {
    if (isOver()) {
      clearInterval(timer);
      const end = setInterval(() => {
        if (waiting() > 0) return;
        clearInterval(end);
        finish();
      }, 5);
      return;
    }
    const due = Math.floor((performance.now() - startedAt) / 1000 * share);
    issue(due - issued);
    issued = due;
  }, 1);
}

/** Patches a prepared frame instead of building each: the generator must not be the limit. */
function templateOf(frameOf: (opaque: number) => Uint8Array) {
  const base = 1_000_000;
  let opaque = base;
  const samples = Array.from(
    { length: queues },
    (_, index) => frameOf(base + index),
  );
  const at = samples.map((it) => {
    const text = new TextDecoder("latin1").decode(it);
    return text.indexOf('"opaque":') + 9;
  });
  const size = Math.max(...samples.map((it) => it.length));
  const buffer = new Uint8Array(size * Math.max(inFlight, 1024));
  return (count: number, onIssue: (opaque: number) => void) => {
    let used = 0;
    for (let index = 0; index < count; index++) {
      const which = opaque % queues;
      const sample = samples[(which - base % queues + queues) % queues]!;
      buffer.set(sample, used);
      let digits = opaque;
      const first = used + at[(which - base % queues + queues) % queues]!;
      for (let place = 6; place >= 0; place--) {
        buffer[first + place] = 48 + digits % 10;
        digits = Math.floor(digits / 10);
      }
      used += sample.length;
      onIssue(opaque);
      opaque = opaque === 9_999_999 ? base : opaque + 1;
    }
    return buffer.subarray(0, used);
  };
}

/** Consumes: one pull after the other per queue, from offset 0. */
async function consume(): Promise<void> {
  const group = `bench-consumers-${process.pid}`;
  const queueEnds: Promise<void>[] = [];
  for (let queueId = 0; queueId < queues; queueId++) {
    queueEnds.push(consumeQueue(group, queueId));
  }
  await Promise.all(queueEnds);
}

async function consumeQueue(group: string, queueId: number): Promise<void> {
  const done = Promise.withResolvers<void>();
  const text = new TextDecoder();
  let offset = 0;
  let sentAt = 0;
  const pull = () => {
    sentAt = performance.now();
    requests++;
    connection.write(requestFrame(11, queueId, {
      consumerGroup: group,
      topic: values.topic,
      queueId: String(queueId),
      queueOffset: String(offset),
      maxMsgNums: "32",
      sysFlag: "4",
      commitOffset: "0",
      suspendTimeoutMillis: "0",
      subscription: "*",
      subVersion: "0",
      expressionType: "TAG",
    }, new Uint8Array(0)));
  };
  const connection = await LoadConnection.open(port, (answer) => {
    latencies.add(performance.now() - sentAt);
    const next = /"nextBeginOffset":"(\d+)"/.exec(text.decode(answer.header));
    if (answer.code === 0 && next !== null) {
      messages += Number(next[1]) - offset;
      bytes += answer.body.length;
      offset = Number(next[1]);
    } else if (answer.code !== 19) {
      failures++;
      lastCode = answer.code;
    }
    if (answer.code === 0 && !isOver()) pull();
    else done.resolve();
  });
  pull();
  await done.promise;
  connection.close();
}

const progress = setInterval(() => {
  if (!process.stderr.isTTY) return;
  const seconds = (performance.now() - startedAt) / 1000;
  process.stderr.write(
    `\r${positionals[0]} ${seconds.toFixed(0)} s, ${messages} messages, ${
      Math.round(messages / seconds)
    } msg/s `,
  );
}, 500);
await (positionals[0] === "consume" ? consume() : send());
clearInterval(progress);
if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
const seconds = (performance.now() - startedAt) / 1000;
console.log(JSON.stringify({
  messages,
  failures,
  ...(failures > 0 ? { lastCode } : {}),
  seconds,
  perSecond: messages / seconds,
  mbPerSecond: bytes / seconds / 1e6,
  ...latencies.percentiles(),
}));
