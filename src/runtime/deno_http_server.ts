/** DenoHttpServer: the HttpServer port over Deno.serve. */
import type { Endpoint } from "../io/network.ts";
import type {
  FetchHandler,
  HttpListener,
  HttpServer,
} from "../io/http_server.ts";
import { listenError } from "./address.ts";
import { HTTP_BODY_SIZE_MAX } from "./http_limits.ts";
import { codeOf } from "./node_file_error.ts";

function tooLarge(): Response {
  return new Response("The body is too large\n", { status: 413 });
}

/** Deno has no limit of its own: counts what an announced size does not cover. */
async function answer(
  request: Request,
  handler: FetchHandler,
): Promise<Response> {
  const announced = Number(request.headers.get("content-length") ?? 0);
  if (announced > HTTP_BODY_SIZE_MAX) return tooLarge();
  if (request.body === null || announced > 0) return await handler(request);
  let size = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      size += chunk.length;
      if (size > HTTP_BODY_SIZE_MAX) {
        controller.error(new Error("The body is too large"));
      } else controller.enqueue(chunk);
    },
  });
  const { url, method, headers } = request;
  const body = request.body.pipeThrough(counter);
  try {
    return await handler(new Request(url, { method, headers, body }));
  } catch (error) {
    if (size > HTTP_BODY_SIZE_MAX) return tooLarge();
    throw error;
  }
}

/** HTTP of the Deno runtime. */
export class DenoHttpServer implements HttpServer {
  serve(at: Endpoint, handler: FetchHandler): Promise<HttpListener> {
    const abort = new AbortController();
    try {
      const server = Deno.serve({
        ...at,
        signal: abort.signal,
        onListen() {},
        onError: () => new Response("Internal error\n", { status: 500 }),
      }, (request) => answer(request, handler));
      return Promise.resolve({
        hostname: server.addr.hostname,
        port: server.addr.port,
        close: async () => {
          abort.abort();
          await server.finished;
        },
      });
    } catch (error) {
      return Promise.reject(listenError(at, codeOf(error), error));
    }
  }
}
