import { monitorEventLoopDelay } from "node:perf_hooks";
import { beforeEach, describe, expect, test } from "vitest";
import { readExcerpts } from "#lib/search/excerpts";
import { parseQuery } from "#lib/search/query";
import { clearTraces } from "../../jobs/searching.ts";
import { getUploads, messages } from "../../jobs/uploads.ts";
import { provideOwner } from "../../support/server.ts";

const { userId } = await provideOwner();
const { send, findId } = getUploads(userId);
beforeEach(clearTraces);

describe("excerpts", () => {
  test("of texts that take long to search end in time, and let others have their turns meanwhile", async () => {
    // At each of its places the word begins within a word.
    await send({ sourceId: "one", messages: messages(...Array.from({ length: 60 }, () => `a ${"a".repeat(99_000)}`)) });
    const id = await findId("one");
    const query = parseQuery("a ".repeat(32));
    const delay = monitorEventLoopDelay({ resolution: 5 });
    const startedAt = performance.now();
    delay.enable();
    await readExcerpts(userId, [id], query);
    delay.disable();
    expect(performance.now() - startedAt).toBeLessThan(3000);
    expect(delay.max / 1e6).toBeLessThan(500);
  });
});
