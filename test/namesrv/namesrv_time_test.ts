/** The name server in virtual time: connections that close late, brokers that die and fall silent. */
import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { encodeRegisterBrokerBody } from "../../src/protocol/body/register_broker_body.ts";
import { encodeRegisterBrokerRequestHeader } from "../../src/protocol/header/register_broker_header.ts";
import { createRequest } from "../../src/protocol/remoting_command.ts";
import { RequestCode } from "../../src/protocol/request_code.ts";
import { RemotingClient } from "../../src/remoting/remoting_client.ts";
import { DEFAULT_REMOTING_CLIENT_OPTIONS } from "../../src/remoting/remoting_options.ts";
import { SimSite } from "../client/sim_site.ts";
import { bodyOf, headerOf } from "./support.ts";

const BROKER_HOST = "10.0.0.1";
const NAMESRV_HOST = "10.0.9.1";

async function site() {
  const sim = new SimSite();
  const namesrv = await sim.namesrv(NAMESRV_HOST);
  const routes = namesrv.routeInfoManager;
  const connect = (host = BROKER_HOST) =>
    new RemotingClient(sim.ports(host), DEFAULT_REMOTING_CLIENT_OPTIONS);
  const register = async (client: RemotingClient, timeoutMs?: number) => {
    const response = await sim.clock.complete(client.invoke(
      sim.namesrvs[0]!,
      createRequest(
        RequestCode.REGISTER_BROKER,
        encodeRegisterBrokerRequestHeader(headerOf({ timeoutMs })),
        encodeRegisterBrokerBody(bodyOf({})),
      ),
      3_000,
    ));
    assertEquals(response.code, 0);
  };
  const isRouted = () => routes.pickupTopicRouteData("T") !== undefined;
  return { sim, clock: sim.clock, connect, register, isRouted, routes };
}

test("NamesrvController never drops the route when the older of two connections closes", async () => {
  const { clock, connect, register, isRouted } = await site();
  const [first, second] = [connect(), connect()];
  await register(first);
  await register(second);
  await clock.complete(first.close());
  for (let ms = 0; ms < 40_000; ms += 10) {
    await clock.run(10);
    assert(isRouted(), `missing after ${ms} ms`);
  }
  await clock.complete(second.close());
  await clock.run(10);
  assert(!isRouted());
});

test("NamesrvController forgets a killed broker at once and a silent one in its time", async () => {
  const { sim, clock, connect, register, isRouted } = await site();
  await register(connect());
  sim.network.kill(BROKER_HOST);
  await clock.run(10);
  assert(!isRouted());

  for (const timeoutMs of [20_000, undefined]) {
    const longestMs = (timeoutMs ?? 120_000) + 5_100;
    await register(connect(), timeoutMs);
    const startedMs = clock.monotonicMs();
    sim.network.powerOff(BROKER_HOST);
    await clock.run((timeoutMs ?? 120_000) - 200);
    assert(isRouted());
    await clock.until(() => !isRouted(), longestMs);
    assert(clock.monotonicMs() - startedMs <= longestMs);
  }
});

test("NamesrvController closes the connection of an expired broker, so that it comes again", async () => {
  const { clock, connect, register, isRouted, routes } = await site();
  const client = connect();
  let closed = 0;
  client.onClosed = () => closed++;
  await register(client, 10_000);
  await clock.run(15_200);
  assertEquals([closed, isRouted(), routes.liveBrokerCount], [1, false, 0]);
  await register(client, 10_000);
  assert(isRouted());
});
