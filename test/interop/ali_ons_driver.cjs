/**
 * The npm client `ali-ons`: `deliver` sends `count` messages and receives them, `share` lets two
 * consumers of one group divide the queues. Signs with an account that is given. Prints
 * `RESULT {json}`.
 */
const { Consumer, Message, Producer } = require("ali-ons");

const [story, nameSrv, topic, countText, accessKey, secretKey] = process.argv
  .slice(2);
const PATIENCE_MS = 40_000;
// The client asks for an HTTP client even when it is given a name server.
const httpclient = { request: () => Promise.reject(new Error("not used")) };
const options = {
  httpclient,
  nameSrv,
  onsAddr: nameSrv,
  ...(accessKey === undefined ? {} : { accessKey, secretKey }),
};

/** A consumer that keeps `{body, queueId}` of what it gets. */
async function consumerOf(consumerGroup, more = {}) {
  const consumer = new Consumer({
    ...options,
    consumerGroup,
    consumeFromWhere: "CONSUME_FROM_FIRST_OFFSET",
    isBroadcast: false,
    ...more,
  });
  const received = [];
  consumer.on("error", (error) => console.log(`consumer: ${error.message}`));
  // deno-lint-ignore require-await -- the client insists on an async function
  consumer.subscribe(topic, "TagA", async (message) => {
    received.push({ body: message.body.toString(), queueId: message.queueId });
  });
  await consumer.ready();
  return { consumer, received };
}

async function producerOf() {
  const producer = new Producer({
    ...options,
    producerGroup: "ali-ons-producers",
  });
  producer.on("error", (error) => console.log(`producer: ${error.message}`));
  await producer.ready();
  return producer;
}

/** True when the broker has it. */
async function send(producer, body) {
  const result = await producer.send(new Message(topic, "TagA", body));
  return result.sendStatus === "SEND_OK";
}

async function until(condition) {
  const deadline = Date.now() + PATIENCE_MS;
  while (!condition() && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function deliver() {
  const count = Number(countText);
  const { received } = await consumerOf("ali-ons-consumers");
  const producer = await producerOf();
  const bodies = Array.from(
    { length: count },
    (_, number) => `body ${number} äöü 消息`,
  );
  let sent = 0;
  for (const body of bodies) if (await send(producer, body)) sent++;
  const all = () => new Set(received.map((it) => it.body));
  await until(() => all().size >= count);
  const seen = all();
  return {
    sent,
    received: seen.size,
    right: bodies.filter((it) => seen.has(it)).length,
  };
}

/** One message to each queue at a time, until the members' shares are those wanted. */
async function share() {
  const often = { rebalanceInterval: 500, persistConsumerOffsetInterval: 500 };
  const members = [];
  for (const instanceName of ["first", "second"]) {
    members.push(await consumerOf("ali-ons-share", { ...often, instanceName }));
  }
  const producer = await producerOf();
  const queues = Number(countText);
  const all = () => members.flatMap((it) => it.received);
  let sent = 0;
  const play = async () => {
    const round = [];
    for (let index = 0; index < queues; index++) {
      const body = `round ${sent}`;
      if (await send(producer, body)) round.push(body);
      sent++;
    }
    await until(() => {
      const seen = new Set(all().map((it) => it.body));
      return round.every((it) => seen.has(it));
    });
    return members.map(({ received }) =>
      new Set(
        received.filter((it) => round.includes(it.body))
          .map((it) => it.queueId),
      ).size
    );
  };
  const shares = async (...wanted) => {
    const deadline = Date.now() + PATIENCE_MS;
    let got = [];
    while (got.join() !== wanted.join() && Date.now() < deadline) {
      got = await play();
    }
    return got;
  };
  const together = await shares(queues / 2, queues / 2);
  await members[0].consumer.close();
  const alone = await shares(0, queues);
  return {
    together,
    alone,
    missing: sent - new Set(all().map((it) => it.body)).size,
  };
}

(story === "share" ? share() : deliver()).then((result) => {
  console.log(`RESULT ${JSON.stringify(result)}`);
  process.exit(0);
}).catch((error) => {
  console.log(error.stack);
  process.exit(1);
});
