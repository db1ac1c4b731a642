/** Copies of stores, the keys that open them, and what was derived from their logs. */
import { assert, assertEquals } from "@std/assert";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { runPocketMQ } from "../support/pocketmq_process.ts";

/** Folders that the log can be made into again. */
const DERIVED = ["consumequeue", "index"];

/** Copies a store that nobody writes into; holes of sparse files stay holes. */
export function copyStore(from: string, folder: string): string {
  mkdirSync(folder, { recursive: true });
  const done = spawnSync("cp", ["-a", from, `${folder}/store`]);
  assertEquals(done.status, 0, String(done.stderr));
  return `${folder}/store`;
}

/** What is left is the log, the tables and the checkpoint. */
export function removeDerived(store: string): void {
  for (const it of DERIVED) {
    assert(existsSync(`${store}/${it}`), `${store} has no ${it}`);
    rmSync(`${store}/${it}`, { recursive: true });
  }
}

/** Differences between the files of all queues of two stores, byte by byte. */
export function queueFileDifferences(left: string, right: string): string[] {
  const theirs = queueFiles(left);
  const ours = queueFiles(right);
  assert(theirs.size > 0, `no queues in ${left}`);
  const names = new Set([...theirs.keys(), ...ours.keys()]);
  return [...names].sort().flatMap((name) => {
    const [one, other] = [theirs.get(name), ours.get(name)];
    if (one === undefined) return [`only ${right} has ${name}`];
    if (other === undefined) return [`only ${left} has ${name}`];
    return one.equals(other) ? [] : [`${name} differs`];
  });
}

/** `topic/queueId/file` → bytes. */
function queueFiles(store: string): Map<string, Buffer> {
  const root = `${store}/consumequeue`;
  const files = new Map<string, Buffer>();
  if (!existsSync(root)) return files;
  for (const topic of readdirSync(root)) {
    for (const queueId of readdirSync(`${root}/${topic}`)) {
      for (const file of readdirSync(`${root}/${topic}/${queueId}`)) {
        const name = `${topic}/${queueId}/${file}`;
        files.set(name, readFileSync(`${root}/${name}`));
      }
    }
  }
  return files;
}

/** The keys that `pocketmq store inspect` prints for a person, as they go into a broker.conf. */
export async function apacheKeys(
  store: string,
): Promise<Record<string, string>> {
  const done = await runPocketMQ(["store", "inspect", store]);
  assertEquals(done.code, 0, done.stderr);
  const [, keys] = done.stdout.split("keys to open it with");
  const lines = keys!.split("\n").filter((it) => /^\w+=/.test(it));
  return Object.fromEntries(lines.map((it) => {
    const at = it.indexOf("=");
    return [it.slice(0, at), it.slice(at + 1)];
  }));
}

/** `store verify` must find nothing to complain of; returns how many records it read. */
export async function verifySound(store: string): Promise<number> {
  const done = await runPocketMQ(["store", "verify", store, "--json"]);
  const result = JSON.parse(done.stdout || "{}");
  const errors = (result.findings ?? []).filter((it: { severity: string }) =>
    it.severity === "error"
  );
  assertEquals(errors, [], `${store}: ${done.stderr}`);
  assertEquals(done.code, 0);
  return result.recordCount;
}
