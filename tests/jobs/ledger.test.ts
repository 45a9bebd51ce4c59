import { beforeEach, describe, expect, test, vi } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool, transaction } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { purgeFacets } from "#lib/ledger/sql/facets";
import { requestReaccounting } from "#lib/ledger/version";
import { deleteTrace } from "#lib/traces/deletion";
import { provideOwner } from "../support/server.ts";
import { expectSameAnew, expectSums } from "./ledger-sums.ts";
import { getUploads } from "./uploads.ts";

const { userId } = await provideOwner();
const { send, stored, findId } = getUploads(userId);

beforeEach(async () => {
  for (const table of ["trace", "trace_usage", "message_usage", "usage_quarter_hour", "usage_facets"]) {
    await pool().query(`delete from ${table}`);
  }
});

const model = "claude-opus-4-5";

/** An answer at a position, on a day of October 2026; `request` is its request's id. */
const answer = (position: number, day: number, request?: string, more: Record<string, unknown> = {}) => ({
  position,
  role: "assistant",
  content: `answer ${position}`,
  tokenCount: 10 + position,
  createdAt: `2026-10-${String(day).padStart(2, "0")}T${String(position % 24).padStart(2, "0")}:20:00Z`,
  metadata: {
    usage: { inputTokens: 100 + position, outputTokens: 10 + position, cacheReadTokens: 1000 },
    ...(request && { requestId: request }),
    ...more,
  },
});
const answers = (count: number, day: number, name?: string, from = 0) =>
  Array.from({ length: count }, (_, n) => answer(from + n, day + Math.floor(n / 3), name && `${name}-${from + n}`));
const session = (sourceId: string, day: number, messages: unknown[], more: Record<string, unknown> = {}) => ({
  source: "claude-code",
  sourceId,
  model,
  createdAt: `2026-10-${String(day).padStart(2, "0")}T00:00:00Z`,
  messages,
  ...more,
});

const used = async (sourceId: string) => (await stored(sourceId))?.usage;

describe("the ledger adds up", () => {
  test("after uploads, re-sends, growth, appends, rewrites, deletions, replays and new prices", async () => {
    await send(
      session("a", 1, answers(7, 1, "a")),
      session("b", 2, answers(4, 2)),
      session("free", 3, [], { model: "m-0" }),
    );
    await accountTraces(30);
    await expectSums();
    expect(await used("a")).toMatchObject({
      inputTokens: 721,
      outputTokens: 91,
      cacheReadTokens: 7000,
      unpricedTokens: 0,
    });
    const steps: (() => Promise<unknown>)[] = [
      () => send(session("a", 1, answers(7, 1, "a"))),
      () => send(session("a", 1, answers(12, 1, "a"))),
      () =>
        send({
          source: "claude-code",
          sourceId: "a",
          append: { count: 12 },
          messages: [answer(12, 1, "late"), answer(13, 9)],
        }),
      () => send(session("b", 2, answers(5, 4), { replace: true, project: "renamed" })),
      () => send(session("b", 2, answers(6, 4), { model: "claude-haiku-4-5" })),
      () => send(session("fork", 5, [...answers(8, 1, "a"), ...answers(3, 6, "own", 8)])),
      () => send(session("unpriced", 6, [answer(0, 6, "u", { model: "nobody-knows-1", costUsd: 0.25 })])),
      async () => deleteTrace(userId, await findId("a"), operator),
      () => send(session("early", 1, answers(8, 1, "a"))),
      () => requestReaccounting(),
      async () => deleteTrace(userId, await findId("early"), operator),
    ];
    for (const step of steps) {
      await step();
      await accountTraces(30);
      await expectSums();
    }
    expect(await stored("unpriced")).toMatchObject({
      costNano: 0,
      recordedNano: 250_000_000,
      usage: { unpricedTokens: 1110 },
    });
    await expectSameAnew();
    await purgeFacets();
    await expectSums();
  });

  test("where a session is shown in many small steps as where it is read at once", async () => {
    const all = answers(30, 3, "s").map((one, n) => ({
      ...one,
      ...(n % 4 === 1 && { createdAt: undefined }),
      metadata: { ...one.metadata, ...(n % 7 === 3 && { branch: `b${n}` }) },
    }));
    await send(session("steps", 3, all.slice(0, 1)));
    await accountTraces(30);
    for (let count = 2; count <= 30; count += 3) {
      await send(session("steps", 3, all.slice(0, count)));
      await accountTraces(30);
    }
    await send(session("steps", 3, all));
    await accountTraces(30);
    await expectSums();
    await expectSameAnew();
  });

  test("with several workers at once, while uploads arrive", async () => {
    for (let round = 1; round <= 4; round += 1) {
      const traces = Array.from({ length: 20 }, (_, n) =>
        session(`w${n}`, 1 + (n % 5), answers(round * 3, 1, `k${n % 7}`)),
      );
      await Promise.all([send(...traces), ...Array.from({ length: 3 }, () => accountTraces(5))]);
    }
    await accountTraces(30);
    await expectSums();
    await expectSameAnew();
  });

  test("after a worker was killed in the middle: nothing of it is left, and the next one does it all", async () => {
    await send(...Array.from({ length: 5 }, (_, n) => session(`k${n}`, 1, answers(4, 1, `k${n % 2}`))));
    await transaction(async (tx) => {
      await tx.query("lock table usage_quarter_hour in access exclusive mode");
      const run = accountTraces(30);
      const blocked = "select pid from pg_stat_activity where wait_event_type = 'Lock' and query like 'with fresh as%'";
      const pid = await vi.waitUntil(async () => (await pool().query<{ pid: number }>(blocked)).rows[0]?.pid, 30_000);
      await pool().query("select pg_terminate_backend($1::int)", [pid]);
      await tx.query("rollback; begin");
      await run;
    });
    await accountTraces(30);
    await expectSums();
    expect((await pool().query("select count(*)::int as count from message_usage")).rows[0]?.count).toBe(20);
  });
});

describe("an answer that two sessions have", () => {
  test("counts in the one that began first, wherever it was stored first, and in the other when that is deleted", async () => {
    await send(session("resumed", 8, answers(3, 1, "x")));
    await accountTraces(30);
    expect(await used("resumed")).toMatchObject({ inputTokens: 303 });
    await send(session("first", 1, answers(3, 1, "x")));
    await accountTraces(30);
    expect(await used("resumed")).toMatchObject({ inputTokens: 0 });
    expect(await used("first")).toMatchObject({ inputTokens: 303 });
    await deleteTrace(userId, await findId("first"), operator);
    await accountTraces(30);
    expect(await used("resumed")).toMatchObject({ inputTokens: 303 });
    await expectSums();
  });

  test("waits while an upload holds the other session", async () => {
    await send(session("resumed", 8, answers(3, 1, "x")));
    await accountTraces(30);
    await send(session("first", 1, answers(3, 1, "x")));
    await transaction(async (upload) => {
      await upload.query("select from trace where user_id = $1 and source_id = 'resumed' for update", [userId]);
      expect(await accountTraces(1)).toBe(0);
    });
    await accountTraces(30);
    expect(await used("resumed")).toMatchObject({ inputTokens: 0 });
    await expectSums();
  });
});

describe("a session that grows while a call in the middle of an answer is open", () => {
  const call = (position: number, more: Record<string, unknown> = {}) => ({
    ...answer(position, 1),
    tokenCount: undefined,
    metadata: { tool: { name: "Bash", callId: `call-${position}`, input: { command: "git push" } }, ...more },
  });

  test("counts once what later messages added to that answer", async () => {
    const added = { usage: { outputTokens: 400 } };
    const all = [answer(0, 1, "one"), call(1), call(2, added), answer(3, 1, "two"), answer(4, 1, "three")];
    for (let count = 1; count <= all.length; count += 1) {
      await send(session("added", 1, all.slice(0, count)));
      await accountTraces(30);
    }
    expect(await used("added")).toMatchObject({ outputTokens: 10 + 400 + 13 + 14 });
    await expectSums();
    await expectSameAnew();
  });

  test("counts once a request whose lines stand between those of others", async () => {
    const line = (position: number, request: string, output: number) => ({
      ...answer(position, 1),
      metadata: { message: { id: request, model, usage: { input_tokens: 100, output_tokens: output } } },
    });
    const all = [
      line(0, "a", 1),
      line(1, "b", 1),
      line(2, "a", 50),
      line(3, "c", 7),
      line(4, "b", 30),
      line(5, "d", 9),
    ];
    for (let count = 1; count <= all.length; count += 1) {
      await send(session("between", 1, all.slice(0, count)));
      await accountTraces(30);
    }
    expect(await used("between")).toMatchObject({ inputTokens: 400, outputTokens: 96 });
    await expectSums();
    await expectSameAnew();
  });
});

describe("what is read", () => {
  test("of a session that grew is its end, and all of it where stored messages changed", async () => {
    const accountedTo = async () =>
      (await pool().query("select accounted_to, accounted_version from trace where source_id = 'grows'")).rows[0];
    await send(session("grows", 1, answers(6, 1)));
    await accountTraces(30);
    const before = await accountedTo();
    expect(before).toMatchObject({ accounted_to: 6 });
    await send(session("grows", 1, answers(8, 1)));
    expect(await accountedTo()).toEqual(before);
    await send({ source: "claude-code", sourceId: "grows", append: { count: 8 }, messages: [answer(8, 1)] });
    expect(await accountedTo()).toEqual(before);
    await accountTraces(30);
    await send(session("grows", 1, [answer(0, 2), ...answers(9, 1, undefined, 1)]));
    expect(await accountedTo()).toMatchObject({ accounted_to: 0 });
  });

  test("is also what a process of the release before wrote, which knows its own mark alone", async () => {
    const { adoptMarks } = await import("#lib/ledger/sql/version");
    await send(session("old", 1, answers(3, 1)));
    await accountTraces(30);
    await pool().query("update message set metadata = jsonb_set(metadata, '{usage,inputTokens}', '5')");
    await pool().query("update trace set usage_due = true");
    await adoptMarks(pool());
    expect(await accountTraces(30)).toBe(1);
    expect(await used("old")).toMatchObject({ inputTokens: 15 });
  });

  test("leaves large texts and metadata out, but for what was used", async () => {
    const large = "x".repeat(3_000_000);
    const [one] = answers(1, 1);
    await send(session("large", 1, [{ ...one, content: large, metadata: { ...one?.metadata, tool: large } }]));
    await accountTraces(30);
    expect(await used("large")).toMatchObject({ inputTokens: 100, cacheReadTokens: 1000 });
  });
});
