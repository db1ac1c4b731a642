import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { withArticle } from "../../src/base/article.ts";

test("withArticle() looks at the first letter", () => {
  assertEquals(withArticle("ASYNC_MASTER"), "an ASYNC_MASTER");
  assertEquals(withArticle("SYNC_MASTER"), "a SYNC_MASTER");
  assertEquals(withArticle("SLAVE"), "a SLAVE");
});
