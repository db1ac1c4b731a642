/** openTls: NodeTls, loaded with the first call. */
import type { Tls } from "../io/tls.ts";

/** Loads and builds it. */
export async function openTls(): Promise<Tls> {
  const { NodeTls } = await import("./node_tls.ts");
  return new NodeTls();
}
