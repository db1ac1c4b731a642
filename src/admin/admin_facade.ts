/** AdminFacade: everything that the admin app asks; wired in src/cli, faked in tests. */
import type { ClientAdmin } from "./client_routes.ts";
import type { ConfigAdmin } from "./config_routes.ts";
import type { GroupAdmin } from "./group_routes.ts";
import type { HAReseedAdmin } from "./ha_reseed_routes.ts";
import type { HAAdmin } from "./ha_routes.ts";
import type { HealthAdmin } from "./health_routes.ts";
import type { MessageAdmin } from "./message_routes.ts";
import type { RouteAdmin } from "./route_routes.ts";
import type { StoreAdmin } from "./store_routes.ts";
import type { TopicAdmin } from "./topic_routes.ts";

/** One narrow interface per noun; each is declared beside its routes. */
export interface AdminFacade {
  readonly health: HealthAdmin;
  readonly ha: HAAdmin;
  readonly haReseed: HAReseedAdmin;
  readonly topics: TopicAdmin;
  readonly groups: GroupAdmin;
  readonly messages: MessageAdmin;
  readonly clients: ClientAdmin;
  readonly config: ConfigAdmin;
  readonly store: StoreAdmin;
  readonly routes: RouteAdmin;
}
