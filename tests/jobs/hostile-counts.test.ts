import { beforeEach, expect, test } from "vitest";
import { listSignIns } from "#lib/auth/sign-in/sign-ins";
import { listTokens } from "#lib/auth/tokens";
import { limits } from "#lib/core/limits";
import { pool, transaction } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { settleWinners } from "#lib/ledger/sql/usage";
import { readEvidence } from "#lib/traces/evidence";
import { answerUsage } from "#lib/usage/answer";
import { usageQuery } from "#lib/usage/schema";
import { makeUser, provideOwner } from "../support/server.ts";
import { clearTraces } from "./searching.ts";
import { getUploads } from "./uploads.ts";

const { userId } = await provideOwner();
const { send, findId } = getUploads(userId);
beforeEach(() => clearTraces());

const said = { position: 0, role: "assistant", content: "done", createdAt: "2026-03-02T10:00:00.123Z" };

test("twenty thousand answers of a user's first session are settled by a look-up each, not each compared with each", async () => {
  await send({ sourceId: "first", messages: [said] });
  const insert = (user: string, trace: string) =>
    pool().query<{ key: string }>(
      `insert into message_usage (user_id, trace_id, position, at, facets, input_tokens, output_tokens, cache_read_tokens,
         cache_write_5m_tokens, cache_write_1h_tokens, reasoning_tokens, replayed, tier_not_priced, counted, request_key)
       select $1, $2, place, '2026-03-02', 1, 0, place, 0, 0, 0, 0, false, false, place > 0, hashtextextended('key ' || place, 0)
       from generate_series(0, 19999) as place returning request_key::text as key`,
      [user, trace],
    );
  // So that the planner knows of another user's rows alone.
  const other = await makeUser({ name: "Bob", email: "bob@example.org", password: "" });
  await insert(other, other);
  await pool().query("analyze message_usage");
  const { rows } = await insert(userId, await findId("first"));
  const keys = rows.map(({ key }) => key);
  const turned = await transaction((tx) => settleWinners(tx, userId, keys));
  expect(turned).toEqual([{ traceId: await findId("first"), day: Date.parse("2026-03-02") / 86_400_000 }]);
  const { rows: counted } = await pool().query(
    "select count(*)::int as rows from message_usage where counted and user_id <> $1",
    [other],
  );
  expect(counted).toEqual([{ rows: 20_000 }]);
});

test("of commits whose hashes begin alike a hundred count, so that no number of them fills the memory", async () => {
  const hash = (place: number) => `abcdef0${String(place).padStart(33, "0")}`;
  const commits = (from: number) =>
    Array.from({ length: 80 }, (_, place) => ({ hash: hash(from + place), subject: `change ${from + place}` }));
  const made = (day: number, from: number) => ({
    ...{ sourceId: `made ${day}`, createdAt: `2026-03-0${day}T10:00:00Z`, messages: [said] },
    metadata: { commits: commits(from).map((commit) => ({ ...commit, position: 0 })) },
  });
  await send(made(1, 0), made(2, 80));
  await accountTraces(30);
  const readCount = async (day: number) => (await readEvidence(userId, await findId(`made ${day}`))).commits.length;
  expect([await readCount(1), await readCount(2)]).toEqual([80, 20]);
});

test("each span of a report has as many values as are listed, and all of them in its sum", async () => {
  const { maxValues } = limits.usage;
  const models = maxValues + 20;
  const messages = Array.from({ length: models }, (_, position) => ({
    ...{ ...said, position, metadata: { model: `model-${position}`, usage: { outputTokens: position + 1 } } },
  }));
  await send({ sourceId: "models", messages, metadata: { pullRequests: [], branch: "main" } });
  await accountTraces(30);
  const range = { from: "2026-03-01", to: "2026-03-03" };
  for (const unit of ["total", "day"]) {
    const { spans, values } = await answerUsage(userId, usageQuery.parse({ ...range, unit, by: "model" }));
    const [span] = spans.filter(({ outputTokens }) => outputTokens > 0);
    expect([values?.length, span?.values?.length]).toEqual([maxValues, maxValues]);
    expect(span?.outputTokens).toBe((models * (models + 1)) / 2);
  }
});

test("two hundred machines and sign-ins are listed, however many there are: a page takes longer the more it has", async () => {
  await pool().query(
    `insert into cli_token (user_id, hash, machine, scopes, expires_at)
     select $1, sha256(place::text::bytea), 'machine ' || place, '{ingest}', now() + interval '1 day' from generate_series(1, 210) as place`,
    [userId],
  );
  await pool().query(
    `insert into session (user_id, token, expires_at, updated_at) select $1, 'token ' || place, now() + interval '1 day', now()
     from generate_series(1, 210) as place`,
    [userId],
  );
  expect([(await listTokens(userId)).length, (await listSignIns(userId)).length]).toEqual([200, 200]);
});
