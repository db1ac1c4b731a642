/** What the compared commands know of a cluster, and the calls of the tools' API among them. */

/** A name server with one broker. */
export interface ComparedCluster {
  readonly namesrv: string;
  readonly broker: string;
  /** Folder of its own: what commands read and write. */
  readonly files: string;
  /** Of the tool. */
  readonly version: string;
}

/** A call of the tools' API, where no command makes it. */
export function call(
  { namesrv }: ComparedCluster,
  method: string,
  ...values: string[]
): string[] {
  return ["@call", `namesrv=${namesrv}`, `method=${method}`]
    .concat(`values=${values.join(",")}`);
}

/** Calls again and again, until the answer holds a text. */
export function until(
  cluster: ComparedCluster,
  text: string,
  method: string,
  ...values: string[]
): string[] {
  return [...call(cluster, method, ...values), `until=${text}`];
}

/** Waits for the count of a topic or group: samples are taken every 10 s. */
export function counted(
  cluster: ComparedCluster,
  name: string,
  key: string,
  sum: number,
): string[] {
  const values = [cluster.broker, name, key];
  return until(cluster, `"sum":${sum},`, "viewBrokerStatsData", ...values);
}

/** Waits until the name server knows the queues of a topic. */
export function routed(cluster: ComparedCluster, topic: string): string[] {
  return until(cluster, '"queueDatas":[{', "examineTopicRouteInfo", topic);
}
