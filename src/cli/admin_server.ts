/** AdminServer: the admin app over a running broker, on its port. */
import { shownList } from "../base/shown.ts";
import { adminApp } from "../admin/admin_app.ts";
import type { AdminFacade } from "../admin/admin_facade.ts";
import type { ConfigAdmin } from "../admin/config_routes.ts";
import { ProblemError } from "../admin/problem.ts";
import { ConfigError } from "../config/config_error.ts";
import {
  type ConfigurationChange,
  ForbiddenKeyError,
} from "../config/configuration.ts";
import type { BrokerConfiguration, RunningBroker } from "./broker_server.ts";
import { groupFacade } from "./facade_groups.ts";
import { changeRole, haStatus } from "./facade_ha.ts";
import { haReseedFacade } from "./facade_ha_reseed.ts";
import { messageFacade } from "./facade_messages.ts";
import {
  clientFacade,
  healthChecks,
  notReady,
  routesView,
  storeView,
} from "./facade_status.ts";
import { topicFacade } from "./facade_topics.ts";
import { hostPort } from "./host_port.ts";
import { listening } from "./listen_error.ts";
import { LocalBroker } from "./local_broker.ts";
import { metricsText } from "./metrics_server.ts";
import type { ServerListener } from "./serve.ts";
import { POCKETMQ_VERSION } from "./version.ts";

/** A bound admin port. */
export interface AdminServer {
  readonly listener: ServerListener;
  close(): Promise<void>;
}

/** Serves before the broker is ready: /readyz says what it waits for. */
export async function startAdminServer(
  running: RunningBroker,
): Promise<AdminServer> {
  const { context, parts } = running;
  const { admin } = parts.config.slices;
  const logger = parts.logger.child("admin");
  const local = new LocalBroker(running);
  const app = adminApp(facadeOf(running, local), {
    version: POCKETMQ_VERSION,
    access: { token: admin.adminToken },
    bodySizeMax: admin.adminBodySizeMax,
    onFailure: (path, error) =>
      logger.error("A request to the admin API failed", { path, error }),
  });
  const hostname = admin.adminListenAddress;
  const listener = await listening(
    "adminPort",
    admin.adminPort,
    "adminListenAddress",
    hostname,
    () =>
      context.runtime.httpServer.serve(
        { hostname, port: admin.adminPort },
        (request) => app.fetch(request),
      ),
  );
  const bound = hostPort(hostname, listener.port);
  return {
    listener: {
      name: "admin",
      bound,
      advertised: bound,
      why: "it is adminListenAddress",
    },
    close: async () => {
      await listener.close();
      await local.close();
    },
  };
}

function facadeOf(running: RunningBroker, local: LocalBroker): AdminFacade {
  /** Whatever needs the broker waits for it with a sentence, not with a crash. */
  const whenReady = <T extends object>(facade: T): T =>
    new Proxy(facade, {
      get(target, name, receiver) {
        if (!running.broker.isReady) {
          throw notReady(running.broker);
        }
        return Reflect.get(target, name, receiver);
      },
    });
  return {
    health: {
      checks: () => healthChecks(running),
      metrics: () => metricsText(running),
    },
    ha: whenReady({
      status: () => haStatus(running),
      changeRole: (change) => changeRole(running, change),
    }),
    haReseed: whenReady(haReseedFacade(running)),
    topics: whenReady(topicFacade(running, local)),
    groups: whenReady(groupFacade(running, local)),
    messages: whenReady(messageFacade(running)),
    clients: whenReady(clientFacade(running)),
    config: configFacade(running.configuration),
    store: whenReady({ store: () => storeView(running) }),
    routes: { routes: () => routesView(running.parts.namesrv) },
  };
}

function configFacade(configuration: BrokerConfiguration): ConfigAdmin {
  return {
    entries: () => configuration.entries(),
    update: (changes) => updateConfiguration(configuration, changes),
  };
}

async function updateConfiguration(
  configuration: BrokerConfiguration,
  changes: ReadonlyMap<string, string>,
): Promise<ConfigurationChange> {
  const known = new Set(configuration.entries().map((it) => it.key));
  const unknown = [...changes.keys()].find((it) => !known.has(it));
  if (unknown !== undefined) {
    throw new ProblemError(400, `Unknown key ${unknown}`, [
      { field: unknown, message: "there is no such key" },
    ]);
  }
  try {
    const lost = configuration.lostBy(changes);
    if (lost.length > 0) {
      throw new ProblemError(
        409,
        `Not changed: ${
          shownList(lost)
        } needs a restart and no file keeps it; start with -c FILE or --set`,
        lost.map((field) => ({ field, message: "no file keeps it" })),
      );
    }
    return await configuration.update(changes);
  } catch (error) {
    if (error instanceof ForbiddenKeyError) {
      throw new ProblemError(403, error.message, [
        { field: error.key, message: "change it in the file and restart" },
      ]);
    }
    if (error instanceof ConfigError) {
      throw new ProblemError(400, error.message, [
        { field: error.key, message: error.hint },
      ]);
    }
    throw error;
  }
}
