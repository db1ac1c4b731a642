import { assertEquals, assertRejects } from "@std/assert";
import { test } from "node:test";
import {
  KVConfigFullError,
  KVConfigManager,
} from "../../src/namesrv/kv_config_manager.ts";

class TextFile {
  text: string | undefined;
  read<T>(parse: (text: string) => T): T | undefined {
    return this.text === undefined ? undefined : parse(this.text);
  }
  write(text: string): Promise<void> {
    this.text = text;
    return Promise.resolve();
  }
}

test("KVConfigManager keeps its entries in Apache's form", async () => {
  const file = new TextFile();
  const kv = new KVConfigManager(file, 10);
  kv.load();
  await kv.put("ORDER_TOPIC_CONFIG", "T", "broker-a:4");
  await kv.put("ORDER_TOPIC_CONFIG", "__proto__", "x");
  await kv.put("n", "k", "v");
  assertEquals(JSON.parse(file.text!).configTable.n, { k: "v" });
  const again = new KVConfigManager(file, 10);
  again.load();
  assertEquals(again.get("ORDER_TOPIC_CONFIG", "T"), "broker-a:4");
  assertEquals([...again.namespace("ORDER_TOPIC_CONFIG")!], [
    ["T", "broker-a:4"],
    ["__proto__", "x"],
  ]);
  await again.delete("n", "k");
  assertEquals(again.namespace("n"), undefined);
  assertEquals(again.get("n", "k"), undefined);
  assertEquals("n" in JSON.parse(file.text!).configTable, false);
});

test("KVConfigManager.put() refuses entries beyond its limit", async () => {
  const kv = new KVConfigManager(undefined, 2);
  await kv.put("a", "1", "x");
  await kv.put("a", "2", "x");
  await assertRejects(() => kv.put("b", "3", "x"), KVConfigFullError);
  assertEquals(kv.namespace("b"), undefined);
  await kv.put("a", "2", "y");
  await kv.delete("a", "1");
  await kv.put("b", "3", "x");
  assertEquals(kv.get("b", "3"), "x");
});
