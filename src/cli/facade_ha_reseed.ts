/** What POST /admin/ha/reseed does. */
import type { HAReseedAdmin } from "../admin/ha_reseed_routes.ts";
import { ProblemError } from "../admin/problem.ts";
import { HAReseedError } from "../broker/ha_reseed.ts";
import type { RunningBroker } from "./broker_server.ts";

/** Over the broker of this process. */
export function haReseedFacade({ broker }: RunningBroker): HAReseedAdmin {
  return {
    reseed: async (force) => {
      try {
        return await broker.reseed.reseed(force);
      } catch (error) {
        if (!(error instanceof HAReseedError)) throw error;
        const status = error.kind === "refused" ? 409 : 500;
        throw new ProblemError(status, error.message, [], { cause: error });
      }
    },
  };
}
