import { beforeEach, describe, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { facets } from "#lib/core/fields";
import { pool, transaction } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { purgeFacets } from "#lib/ledger/sql/facets";
import { deleteTrace } from "#lib/traces/deletion";
import { countDueTraces, findLastUse } from "#lib/usage/queries";
import { readUsage } from "#lib/usage/report";
import type { Figures, UsageFacet } from "#lib/usage/schema";
import { makeUser, provideOwner } from "../support/server.ts";
import { getUploads } from "./uploads.ts";

const { userId } = await provideOwner();
const { send, stored } = getUploads(userId);

beforeEach(async () => {
  await pool().query("delete from trace");
  for (const table of ["trace_usage", "message_usage", "usage_quarter_hour", "usage_facets"])
    await pool().query(`delete from ${table}`);
});

const day = (text: string) => new Date(`2026-03-${text}`);
/** From the 1st of March 2026 to the 8th, in days of UTC. */
const week = Array.from({ length: 8 }, (_, index) => day(`0${index + 1}T00:00Z`));

/** A message of the 2nd of March at a time, or on another day of March 2026 ("03T10:00"). */
function message(position: number, at: string | null, tokenCount?: number) {
  const createdAt = at && `2026-03-${at.includes("T") ? at : `02T${at}`}:00Z`;
  return {
    position,
    content: `message ${position}`,
    ...(createdAt && { createdAt }),
    ...(tokenCount && { tokenCount }),
  };
}

/** A report of what has no usage but the messages' own token counts. */
async function report(starts = week, by: UsageFacet = "source", user = userId) {
  const between = starts
    .slice(0, -1)
    .map((start, place) => ({ from: "", to: "", start, end: starts[place + 1] ?? start }));
  const { total, byFacet, bySpan } = await readUsage(user, { spans: between, facets, by });
  const short = ({ sessions, messages, tokenCount: tokens }: Figures) => ({ sessions, messages, tokens });
  const of = (name: UsageFacet) => (byFacet[name]?.values ?? []).map((one) => ({ value: one.value, ...short(one) }));
  return {
    total: { ...short(total), untimed: total.untimed, uncounted: total.uncounted },
    byFacet: { source: of("source"), model: of("model"), project: of("project"), machine: of("machine") },
    bySpan,
  };
}

/** The usage in each span, of all agents, as "sessions/messages/tokens". */
async function spans(starts = week, user = userId) {
  const { bySpan } = await report(starts, "source", user);
  return Object.fromEntries(
    bySpan.map(({ span, sessions, messages, tokenCount }) => [span, `${sessions}/${messages}/${tokenCount}`]),
  );
}

/** Sets when all traces were stored and last active, so that they are counted without a delay. */
const sentLater = () => pool().query("update trace set stored_at = '2026-04-01', activity_at = '2026-03-31'");

describe("usage", () => {
  test("counts a session's messages on their days, and the session once in the total", async () => {
    await send({
      sourceId: "long",
      source: "codex",
      project: "api",
      messages: [message(0, "23:50", 5), message(1, "23:55", 6), message(2, "03T00:05", 7), message(3, "06T12:00", 8)],
    });
    await send({ sourceId: "short", source: "codex", model: "opus", messages: [message(0, "23:59", 100)] });
    expect(await countDueTraces(userId)).toBe(2);
    expect(await accountTraces(10)).toBe(2);
    expect(await countDueTraces(userId)).toBe(0);
    expect(await spans()).toEqual({ 1: "2/3/111", 2: "1/1/7", 5: "1/1/8" });
    const { total, byFacet } = await report(week, "source");
    expect(total).toEqual({ sessions: 2, messages: 5, tokens: 126, untimed: 0, uncounted: 0 });
    expect(byFacet.source).toEqual([{ value: "codex", sessions: 2, messages: 5, tokens: 126 }]);
    expect(byFacet.machine).toEqual([{ value: "test", sessions: 2, messages: 5, tokens: 126 }]);
    expect(byFacet.model.toSorted((a, b) => a.tokens - b.tokens)).toEqual([
      { value: null, sessions: 1, messages: 4, tokens: 26 },
      { value: "opus", sessions: 1, messages: 1, tokens: 100 },
    ]);
  });

  test("is exact for the days of every time zone, by quarters of an hour", async () => {
    await send({ sourceId: "a", messages: [message(0, "18:14", 1), message(1, "18:15", 2), message(2, "19:00", 4)] });
    await accountTraces(10);
    // In Kathmandu, 5:45 ahead, the 3rd of March begins at 18:15.
    const kathmandu = ["01T18:15Z", "02T18:15Z", "03T18:15Z"].map(day);
    expect(await spans(kathmandu)).toEqual({ 0: "1/1/1", 1: "1/2/6" });
    expect((await report(kathmandu, "source")).total.sessions).toBe(1);
    // Messages outside of all spans are not counted, even where their UTC day is within one.
    expect(await spans([day("02T18:15Z"), day("02T18:30Z")])).toEqual({ 0: "1/1/2" });
  });

  test("says how many messages have no time or no token count, and counts those without a time with the one before", async () => {
    await send({ sourceId: "a", messages: [message(0, null, 1), message(1, "10:00"), message(2, null, 2)] });
    await send({ sourceId: "b", createdAt: "2026-03-04T09:00:00Z", messages: [message(0, null, 16)] });
    await sentLater();
    await accountTraces(10);
    // The first message of "a" has nothing before it: it counts when the session was last active, outside of this week.
    expect(await spans()).toEqual({ 1: "1/2/2", 3: "1/1/16" });
    const { total } = await report([day("01T00:00Z"), new Date("2026-04-02")], "source");
    expect(total).toEqual({ sessions: 2, messages: 4, tokens: 19, untimed: 3, uncounted: 1 });
  });

  test("counts no message later than its upload, whatever its time", async () => {
    await send({ sourceId: "a", messages: [{ position: 0, content: "x", createdAt: "2099-01-01T00:00:00Z" }] });
    await accountTraces(10);
    expect((await report([new Date("2098-01-01"), new Date("2100-01-01")], "source")).total.messages).toBe(0);
    const tomorrow = new Date(Date.now() + 86_400_000);
    expect((await findLastUse(userId, tomorrow))?.getTime()).toBeLessThanOrEqual(Date.now());
  });

  test("follows later uploads: more messages, other names", async () => {
    await send({ sourceId: "a", project: "old", messages: [message(0, "10:00", 1)] });
    await accountTraces(10);
    await send({ sourceId: "a", project: "new", messages: [message(0, "10:00", 1), message(1, "03T10:00", 2)] });
    expect(await countDueTraces(userId)).toBe(1);
    expect(await accountTraces(10)).toBe(1);
    expect(await spans()).toEqual({ 1: "1/1/1", 2: "1/1/2" });
    const { byFacet } = await report(week, "project");
    expect(byFacet.project).toEqual([{ value: "new", sessions: 1, messages: 2, tokens: 3 }]);
    expect(await accountTraces(10)).toBe(0);
  });

  test("excludes a deleted session at once, and its names after the housekeeping", async () => {
    await send({ sourceId: "a", project: "secret", messages: [message(0, "10:00", 1)] });
    await send({ sourceId: "b", project: "open", messages: [message(0, "09:00", 2)] });
    await accountTraces(10);
    await deleteTrace(userId, (await stored("a"))?.id ?? "", operator);
    expect(await spans()).toEqual({ 1: "1/1/2" });
    expect(await findLastUse(userId, day("08T00:00Z"))).toEqual(day("02T09:00Z"));
    expect(await countDueTraces(userId)).toBe(0);
    expect(await accountTraces(10)).toBe(1);
    await purgeFacets();
    const { rows } = await pool().query("select project from usage_facets");
    expect(rows).toEqual([{ project: "open" }]);
  });

  test("is visible only to its user", async () => {
    await send({ sourceId: "a", messages: [message(0, "10:00", 1)] });
    await accountTraces(10);
    const other = await makeUser({ name: "Bo", email: "bo@example.org", password: "correct horse battery" });
    expect(await spans(week, other)).toEqual({});
    expect(await findLastUse(other, new Date())).toBeUndefined();
  });
});

describe("counting", () => {
  test("keeps the mark of a trace that an upload changes meanwhile, and waits for no upload", async () => {
    for (const sourceId of ["held", "free"]) await send({ sourceId, messages: [message(0, "10:00", 1)] });
    const upload = await pool().connect();
    try {
      await upload.query("begin");
      await upload.query("select from trace where user_id = $1 and source_id = 'held' for update", [userId]);
      expect(await accountTraces(0.001)).toBe(2);
      expect(await countDueTraces(userId)).toBe(1);
      await upload.query(
        "update trace set model = 'changed', ledger_due = true, upload_sequence = upload_sequence + 1 where source_id = 'held'",
      );
      await upload.query("commit");
    } finally {
      upload.release();
    }
    expect(await accountTraces(10)).toBe(1);
    const { byFacet } = await report(week, "source");
    expect(byFacet.model.map(({ value }) => value).toSorted()).toEqual(["changed", null]);
  });

  test("does not wait for an account that is being deleted, and skips its sessions", async () => {
    await send({ sourceId: "leaving", messages: [message(0, "10:00", 1)] });
    await transaction(async (leaving) => {
      await leaving.query(`select from "user" where id = $1 for update`, [userId]);
      expect(await accountTraces(10)).toBe(0);
    });
    expect(await accountTraces(10)).toBe(1);
  });

  test("counts each trace once, with several workers at once", async () => {
    const traces = Array.from({ length: 40 }, (_, n) => ({ sourceId: `t${n}`, messages: [message(0, "10:00", 1)] }));
    await send(...traces);
    const counted = await Promise.all(Array.from({ length: 4 }, () => accountTraces(10)));
    expect(counted.reduce((sum, one) => sum + one)).toBe(40);
    expect(await spans()).toEqual({ 1: "40/40/40" });
  });

  test("is delayed for traces that have just changed", async () => {
    await send({ sourceId: "growing", messages: [message(0, "10:00", 1)] });
    expect(await accountTraces(10, 60)).toBe(0);
    await sentLater();
    expect(await accountTraces(10, 60)).toBe(1);
  });
});
