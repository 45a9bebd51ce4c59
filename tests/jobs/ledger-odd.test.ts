import { expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { readExcerpts } from "#lib/search/excerpts";
import { parseQuery } from "#lib/search/query";
import { readContext } from "#lib/traces/sql/session";
import { answerUsage } from "#lib/usage/answer";
import { usageQuery } from "#lib/usage/schema";
import { readSegment } from "../../app/(app)/traces/[id]/segments/read-segment.ts";
import { provideOwner } from "../support/server.ts";
import { expectSameAnew, expectSums } from "./ledger-sums.ts";
import { expectOddUsage } from "./odd-usage.ts";
import { indexAll } from "./searching.ts";
import { getUploads } from "./uploads.ts";

const { userId } = await provideOwner();
const { send, stored } = getUploads(userId);

test.each([1, 2, 3])("odd usage is summed alike in all places, however sessions grow and go (%i)", (seed) =>
  expectOddUsage(userId, seed, 5),
);

test("a message with as many tokens as can be is counted everywhere", async () => {
  const usage = { inputTokens: 2 ** 53, outputTokens: 2 ** 53, cacheReadTokens: 2 ** 53, cacheWriteTokens: 2 ** 53 };
  const message = {
    position: 0,
    content: "x",
    role: "assistant",
    createdAt: "2026-10-05T11:30:00Z",
    metadata: { usage },
  };
  await send({ source: "pi", sourceId: "most", model: "nobody-knows-1", messages: [message] });
  await accountTraces(30);
  await expectSums();
  const most = 2_147_483_647;
  const found = await stored("most");
  expect(found?.usage).toMatchObject({ inputTokens: most, unpricedTokens: 4 * most });
  expect(await readContext(userId, found?.id ?? "")).toEqual([{ position: 0, tokens: 3 * most }]);
  // The day is shared by two spans, so that the message itself is read.
  const query = usageQuery.parse({ from: "2026-10-05", to: "2026-10-07", zone: "Pacific/Auckland", source: "pi" });
  expect((await answerUsage(userId, query)).total).toMatchObject({ outputTokens: most, unpricedTokens: 4 * most });
});

test("a message at the highest position is counted, shown and found, also when its session grows before it", async () => {
  const at = (position: number) => ({
    ...{ position, content: `it says elderberry ${position}`, role: "assistant", createdAt: "2026-10-05T11:30:00Z" },
    metadata: { usage: { inputTokens: 7, outputTokens: 1 } },
  });
  const most = 2_147_483_647;
  for (const positions of [[most], [5, most]]) {
    await send({ source: "pi", sourceId: "last", model: "nobody-knows-1", messages: positions.map(at) });
    await accountTraces(30);
    await expectSums();
    const found = await stored("last");
    expect(found?.usage).toMatchObject({ inputTokens: 7 * positions.length });
    const id = found?.id ?? "";
    expect(await readSegment(userId, id, { after: most }, false)).toBeUndefined();
    expect((await readSegment(userId, id, { at: most }, false))?.messages.at(-1)).toMatchObject({ position: most });
    await indexAll();
    const excerpts = await readExcerpts(userId, [id], parseQuery("elderberry"));
    expect(excerpts.get(id)?.excerpts.map(({ position }) => position)).toEqual(positions);
  }
  expect((await pool().query("select 1 from trace where ledger_due")).rowCount).toBe(0);
});

test("messages that an append brings between stored ones are counted once each", async () => {
  const at = (position: number) => ({
    ...{ position, content: `m${position}`, role: "assistant", tokenCount: position },
    createdAt: `2026-10-06T${10 + position}:00:00Z`,
    metadata: { usage: { inputTokens: position, outputTokens: 1 } },
  });
  const trace = { source: "pi", sourceId: "between", model: "nobody-knows-1" };
  await send({ ...trace, messages: [1, 5, 9].map(at) });
  await accountTraces(30);
  await send({ ...trace, append: { count: 3 }, messages: [3, 7].map(at) });
  await accountTraces(30);
  expect((await stored("between"))?.usage).toMatchObject({ inputTokens: 25, outputTokens: 5 });
  await expectSums();
  await expectSameAnew();
});
