/** The npm client `ali-ons`: sends `count` messages, receives them, prints `RESULT {json}`. */
const { Consumer, Message, Producer } = require("ali-ons");

const [nameSrv, topic, countText] = process.argv.slice(2);
const count = Number(countText);
// The client asks for an HTTP client even when it is given a name server.
const httpclient = { request: () => Promise.reject(new Error("not used")) };
const options = { httpclient, nameSrv, onsAddr: nameSrv };
const bodies = new Set();

async function main() {
  const consumer = new Consumer({
    ...options,
    consumerGroup: "ali-ons-consumers",
    consumeFromWhere: "CONSUME_FROM_FIRST_OFFSET",
    isBroadcast: false,
  });
  consumer.on("error", (error) => console.log(`consumer: ${error.message}`));
  // deno-lint-ignore require-await -- the client insists on an async function
  consumer.subscribe(topic, "TagA", async (message) => {
    bodies.add(message.body.toString());
  });
  await consumer.ready();

  const producer = new Producer({
    ...options,
    producerGroup: "ali-ons-producers",
  });
  producer.on("error", (error) => console.log(`producer: ${error.message}`));
  await producer.ready();
  let sent = 0;
  for (let number = 0; number < count; number++) {
    const message = new Message(topic, "TagA", `body ${number} äöü 消息`);
    const result = await producer.send(message);
    if (result.sendStatus === "SEND_OK") sent++;
  }
  const deadline = Date.now() + 40_000;
  while (bodies.size < count && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  let right = 0;
  for (let number = 0; number < count; number++) {
    if (bodies.has(`body ${number} äöü 消息`)) right++;
  }
  console.log(
    `RESULT ${JSON.stringify({ sent, received: bodies.size, right })}`,
  );
  process.exit(right === count ? 0 : 1);
}

main().catch((error) => {
  console.log(error.stack);
  process.exit(1);
});
