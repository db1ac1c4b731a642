/** BunHttpServer: the HttpServer port over Bun.serve. */
import type { Endpoint } from "../io/network.ts";
import type {
  FetchHandler,
  HttpListener,
  HttpServer,
} from "../io/http_server.ts";
import { listenError } from "./address.ts";
import { HTTP_BODY_SIZE_MAX, HTTP_IDLE_MAX_SECONDS } from "./http_limits.ts";
import { codeOf } from "./node_file_error.ts";

/** HTTP of the Bun runtime. */
export class BunHttpServer implements HttpServer {
  serve(at: Endpoint, handler: FetchHandler): Promise<HttpListener> {
    try {
      const server = Bun.serve({
        ...at,
        fetch: (request) => handler(request),
        error: () => new Response("Internal error\n", { status: 500 }),
        development: false,
        // Without it, development: false lets a second process share the port.
        reusePort: false,
        maxRequestBodySize: HTTP_BODY_SIZE_MAX,
        idleTimeout: HTTP_IDLE_MAX_SECONDS,
      });
      return Promise.resolve({
        hostname: server.hostname ?? at.hostname,
        port: server.port ?? at.port,
        close: () => server.stop(true),
      });
    } catch (error) {
      return Promise.reject(listenError(at, codeOf(error), error));
    }
  }
}
