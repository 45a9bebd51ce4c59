import { beforeEach, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { countUnmasked, summarizeFindings } from "#lib/findings/findings";
import { accountTraces } from "#lib/ledger/account";
import { headMarkdown } from "#lib/traces/export/markdown";
import { readFamilies } from "#lib/traces/family";
import { listPage, type TraceRow } from "#lib/traces/queries";
import { readNews } from "../../app/(app)/home/news.ts";
import { sumOwn } from "../../app/(app)/traces/[id]/facts/family.tsx";
import { readKin } from "../../app/(app)/traces/list/families.ts";
import { countTokens } from "../../app/(app)/traces/list/spent.ts";
import { owner, provideOwner } from "../support/server.ts";
import { getUploads } from "./uploads.ts";

const { userId } = await provideOwner();
const { send } = getUploads(userId);

beforeEach(async () => {
  for (const table of ["trace", "trace_usage", "message_usage", "usage_quarter_hour", "usage_facets", "finding"])
    await pool().query(`delete from ${table}`);
});

const source = "claude-code";
const usage = { input_tokens: 100, output_tokens: 20, cache_read_input_tokens: 8000 };
/** A session whose request used 8,120 tokens, of which its messages count 120 themselves. */
const session = (sourceId: string, more: object = {}) => ({
  ...{ source, sourceId, title: `About ${sourceId}` },
  messages: [
    {
      ...{ position: 0, role: "assistant", content: "words", tokenCount: 120, createdAt: "2026-03-02T10:00:00Z" },
      metadata: { usage, model: "claude-opus-4-5" },
    },
  ],
  ...more,
});

test("a session's tokens are the same number in its head, among its kin and in its exports", async () => {
  await send(session("main"), session("main/agent-a", { metadata: { parent: "main" } }));
  await accountTraces(10);
  const { traces } = await listPage(userId, { families: true }, { limit: 5 });
  const [main] = traces;
  if (!main) throw new Error("it is not listed");
  const tokens = countTokens(main);
  expect(tokens).toBe(8120);
  expect(sumOwn(main).tokens).toBe(tokens);
  const family = (await readFamilies(userId, [main.id], 5)).get(main.id);
  expect([family?.sums.tokens, family?.members[0]?.own.tokens]).toEqual([tokens, tokens]);
  const { rows } = await pool().query<TraceRow>(
    `select *, input_tokens as "inputTokens", output_tokens as "outputTokens", cache_read_tokens as "cacheReadTokens",
       cache_write_5m_tokens as "cacheWrite5mTokens", cache_write_1h_tokens as "cacheWrite1hTokens",
       token_count as "tokenCount", activity_at as "activityAt", source_id as "sourceId" from trace where id = $1`,
    [main.id],
  );
  expect(headMarkdown(rows[0] as TraceRow)).toContain(`- Tokens: ${tokens}\n`);
});

test("a session below another one stands once on a page: in its parent's fold, or by itself", async () => {
  await send(session("main"), session("main/agent-a", { metadata: { parent: "main" } }));
  await accountTraces(10);
  const shownOn = async (filter: object, page: { folds: boolean; isOfRoots: boolean }) => {
    const { traces } = await listPage(userId, filter, { limit: 5 });
    const { families } = await readKin(userId, traces, page);
    const below = [...families.values()].flatMap(({ members }) => members);
    return [...traces, ...below].map(({ title }) => title).sort();
  };
  const both = ["About main", "About main/agent-a"];
  expect(await shownOn({ families: true }, { folds: true, isOfRoots: true })).toEqual(both);
  expect(await shownOn({ source }, { folds: false, isOfRoots: false })).toEqual(both);
});

test("home needs a look at unmasked secrets, as many as their page counts", async () => {
  await pool().query("insert into secret_policy (user_id, masks) values ($1, false)", [userId]);
  const key = ["ghp", "1a2B3c4D5e6F7g8H9i0JkLmNoPqRsTuVwXyZ"].join("_");
  await send({ ...session("leaks"), messages: [{ position: 0, role: "user", content: `GITHUB_TOKEN=${key} ${key}` }] });
  await accountTraces(10);
  const unmasked = await countUnmasked(userId);
  expect(unmasked.certain + unmasked.possible).toBe(1);
  expect((await summarizeFindings(userId)).unmasked).toEqual(unmasked);
  const { concerns } = await readNews({ ...owner, id: userId } as never, "UTC", new Date());
  expect(concerns.unmasked).toEqual(unmasked);
  await pool().query("delete from secret_policy");
});

test("home tells how many sessions its figures are without", async () => {
  await send(session("new"));
  const due = async () => (await readNews({ ...owner, id: userId } as never, "UTC", new Date())).due;
  expect(await due()).toBe(1);
  await accountTraces(10);
  expect(await due()).toBe(0);
});
