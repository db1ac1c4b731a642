/** HttpServer: serves a fetch handler on a port; used by the admin face only. */

/** Answers one HTTP request. */
export type FetchHandler = (request: Request) => Response | Promise<Response>;

/** A running HTTP server. */
export interface HttpListener {
  readonly hostname: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Starts HTTP servers. Rejects as `Network.listen` does. */
export interface HttpServer {
  serve(
    at: { hostname: string; port: number },
    handler: FetchHandler,
  ): Promise<HttpListener>;
}
