/** The same commands against an Apache cluster and against ours: what mqadmin prints is the same. */
import { assert } from "@std/assert";
import {
  existsSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import process from "node:process";
import { test } from "node:test";
import { ApacheBroker } from "./apache_broker.ts";
import { ApacheNamesrv } from "./apache_namesrv.ts";
import {
  type InteropSite,
  startNamesrv,
  withInteropSite,
} from "./interop_site.ts";
import { mqadmin } from "./mqadmin.ts";
import {
  comparison,
  rawOutputs,
  unexpected,
  withReasons,
} from "./mqadmin_compare.ts";
import type { ComparedCluster } from "./mqadmin_cluster.ts";
import { listsOfMqadmin, mqadminSequence } from "./mqadmin_sequence.ts";
import { OurBroker } from "./our_broker.ts";
import { APACHE_SERVER_VERSIONS } from "./versions.ts";

/**
 * What a broker does by itself while commands run would be seen in some runs: a registration
 * undoes what a command did to a route, a check of transactions gives its group positions.
 */
const SETTINGS = {
  registerNameServerPeriod: "60000",
  transactionCheckInterval: "3600000",
};
const FOLDER = new URL(".", import.meta.url).pathname;

for (const version of APACHE_SERVER_VERSIONS) {
  test(`mqadmin ${version} prints the same of our cluster as of Apache's`, async () => {
    await withInteropSite(async (site) => {
      const [apache, ours] = await Promise.all([
        printed(site, version, "apache", apacheCluster(site, version)),
        printed(site, version, "ours", ourCluster(site, version)),
      ]);
      const found = comparison(apache, ours);
      const path = `${FOLDER}mqadmin_differences_${version}.txt`;
      const listed = readFileSync(path, "utf8");
      if (process.env.INTEROP_REWRITE === "1") {
        writeFileSync(path, `${withReasons(found, listed)}\n`);
        return;
      }
      const complaint = unexpected(found, listed);
      assert(
        complaint === "",
        `not as ${path} lists:\n${complaint}\n${
          rawOutputs(apache, ours, complaint)
        }`,
      );
    });
  });
}

async function apacheCluster(
  site: InteropSite,
  version: string,
): Promise<ComparedCluster> {
  const server = await site.own(
    ApacheNamesrv.start({ version, folder: `${site.folder}/ns` }),
  );
  const namesrv = server.address;
  const folder = `${site.folder}/apache`;
  const files = listsOfMqadmin(`${folder}-files`);
  const broker = await site.own(
    ApacheBroker.start({ version, folder, namesrv, settings: SETTINGS }),
  );
  return { namesrv, broker: broker.address, version, files };
}

async function ourCluster(
  site: InteropSite,
  version: string,
): Promise<ComparedCluster> {
  const namesrv = await startNamesrv(site);
  const folder = `${site.folder}/ours`;
  const files = listsOfMqadmin(`${folder}-files`);
  const broker = await site.own(
    OurBroker.start({
      folder,
      namesrv,
      settings: { ...SETTINGS, diskMaxUsedSpaceRatio: "95" },
    }),
  );
  return { namesrv, broker: broker.address, version, files };
}

/** Runs the sequence; pairs of command and output. */
async function printed(
  site: InteropSite,
  version: string,
  name: string,
  starting: Promise<ComparedCluster>,
): Promise<[string[], string][]> {
  const cluster = await starting;
  await site.registered(cluster.namesrv, cluster.broker);
  const commands = mqadminSequence(cluster);
  const home = `${site.folder}/tools-${name}`;
  const outputs = await mqadmin(version, home, commands);
  removeBodies(outputs.join("\n"));
  return commands.map((command, at) => [command, outputs[at]!]);
}

/** The tool keeps bodies of messages there, whatever it is told. */
const BODIES = "/tmp/rocketmq/msgbodys";

function removeBodies(output: string): void {
  for (const [path] of output.matchAll(new RegExp(`${BODIES}/\\w+`, "g"))) {
    rmSync(path, { force: true });
  }
  if (existsSync(BODIES) && readdirSync(BODIES).length === 0) rmdirSync(BODIES);
}
