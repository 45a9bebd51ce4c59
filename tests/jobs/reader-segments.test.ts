import { describe, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import type { Sharing } from "#lib/masking/for-others";
import { findInMessages } from "#lib/messages/find-in-messages";
import { countMessages, readEarlier } from "#lib/messages/read-messages";
import { headMarkdown, messageMarkdown, streamMarkdown } from "#lib/traces/export/markdown";
import { readOutlineForOthers } from "#lib/traces/outline";
import { getTraceRow, neighbours } from "#lib/traces/queries";
import { readRow, readSegment } from "../../app/(app)/traces/[id]/segments/read-segment.ts";
import type { SegmentRequest } from "../../app/(app)/traces/[id]/segments/request.ts";
import { makeSegmentRows } from "../../app/(app)/traces/[id]/segments/rows.ts";
import { sharedOutline } from "../../app/shared/[token]/outline.ts";
import { storeSession } from "../support/long-session.ts";
import { provideOwner } from "../support/server.ts";

const { userId } = await provideOwner();
const nobody = "00000000-0000-4000-8000-000000000000";

const one = await storeSession(userId, { messages: 1000 });

async function findSegment(traceId: string, request: SegmentRequest, maxCost = Number.POSITIVE_INFINITY) {
  const read = await readSegment(userId, traceId, request, false);
  return read && makeSegmentRows(read, false, maxCost);
}

describe("segments of a session", () => {
  test("cover every message exactly once, forwards and backwards", async () => {
    const forwards = [];
    let after: number | undefined;
    for (;;) {
      const segment = await findSegment(one, after === undefined ? {} : { after });
      if (!segment) break;
      forwards.push(...segment.rows.flatMap(({ positions }) => positions));
      after = segment.last;
      expect(segment.later).toBe(segment.last < 999);
      if (!segment.later) break;
    }
    expect(forwards).toEqual(Array.from({ length: 1000 }, (_, position) => position));

    const backwards = [];
    let before = 1000;
    for (let more = true; more; ) {
      const segment = await findSegment(one, { before });
      if (!segment) break;
      backwards.unshift(...segment.rows.flatMap(({ positions }) => positions));
      before = segment.first;
      more = segment.earlier;
    }
    expect(backwards).toEqual(forwards);
  });

  test("lie around a requested position, also at the ends", async () => {
    for (const at of [0, 3, 500, 999]) {
      const segment = await findSegment(one, { at });
      expect(segment?.first).toBeLessThanOrEqual(at);
      expect(segment?.last).toBeGreaterThanOrEqual(at);
      expect(segment?.count).toBeGreaterThan(60);
    }
    expect(await findSegment(one, { at: 5000 })).toMatchObject({ last: 999, later: false });
  });

  test("of another user are not found", async () => {
    expect(await readSegment(nobody, one, {}, false)).toBeUndefined();
    expect(await findInMessages(nobody, one, "question")).toEqual({ total: 0, messages: 0, places: [] });
  });

  test("are gone with the session while its messages are still being removed", async () => {
    const deleted = await storeSession(userId, { messages: 300, sourceId: "deleted" });
    await pool().query("update trace set deleted_at = now() where id = $1", [deleted]);
    for (const request of [{}, { after: 99 }, { before: 200 }, { at: 150 }])
      expect(await readSegment(userId, deleted, request, false)).toBeUndefined();
    expect(await readRow(userId, deleted, [5])).toBeUndefined();
  });

  test("are bounded by bytes: a message of 5 MB comes without its neighbours", async () => {
    const big = await storeSession(userId, {
      messages: 40,
      sourceId: "big",
      content: `case p when 20 then repeat('x', 5000000) else 'small' end`,
    });
    const segment = await findSegment(big, {});
    expect(segment?.last).toBeLessThan(20);
    expect(segment?.last).toBeGreaterThan(10);
    expect(await findSegment(big, { after: 19 })).toMatchObject({ first: 20, count: 1, later: true });
  });
});

test("the messages before a position come in order, and say whether there are more", async () => {
  const { messages, hasMore } = await readEarlier(userId, one, 10, { limit: 4 });
  expect(messages.map(({ position }) => position)).toEqual([6, 7, 8, 9]);
  expect(hasMore).toBe(true);
  expect(await readEarlier(userId, one, 2, { limit: 4 })).toMatchObject({ messages: [{}, {}], hasMore: false });
  expect(await readEarlier(userId, one, 0, { limit: 4 })).toEqual({ messages: [], hasMore: false });
  expect(await countMessages(userId, one, { before: 10 })).toBe(10);
  expect(await countMessages(userId, one, { after: 10 })).toBe(989);
});

describe("find", () => {
  test("matches text literally and without regard to case, wildcards included", async () => {
    const id = await storeSession(userId, {
      messages: 5,
      sourceId: "find",
      content: `(array['100% sure, 100% done', 'a_b and A_B', 'nothing', E'back\\\\slash', 'ÄPFEL äpfel'])[p + 1]`,
    });
    expect(await findInMessages(userId, id, "100%")).toEqual({ total: 2, messages: 1, places: [[0, 2]] });
    expect(await findInMessages(userId, id, "a_b")).toEqual({ total: 2, messages: 1, places: [[1, 2]] });
    expect(await findInMessages(userId, id, "back\\s")).toMatchObject({ places: [[3, 1]] });
    expect(await findInMessages(userId, id, "äpfel")).toMatchObject({ places: [[4, 2]] });
    expect(await findInMessages(userId, id, "absent")).toEqual({ total: 0, messages: 0, places: [] });
  });

  test("searches metadata too", async () => {
    await pool().query(`update message set metadata = '{"tool":"WebFetch"}' where trace_id = $1 and position = 9`, [
      one,
    ]);
    expect(await findInMessages(userId, one, "webfetch")).toEqual({ total: 1, messages: 1, places: [[9, 1]] });
  });
});

test("the neighbours of a session are those of the filtered list", async () => {
  const source = "neighbours";
  const ids: string[] = [];
  for (const messages of [30, 20, 10])
    ids.push(await storeSession(userId, { messages, source, sourceId: `n${messages}` }));
  const [newest = "", middle = "", oldest = ""] = ids;
  expect(await neighbours(userId, middle, { source })).toMatchObject({ newer: { id: newest }, older: { id: oldest } });
  expect((await neighbours(userId, newest, { source })).newer).toBeUndefined();
  expect((await neighbours(userId, oldest, { source })).older).toBeUndefined();
  expect(await neighbours(nobody, middle, { source })).toEqual({ newer: undefined, older: undefined });
});

describe("the outline of a shared session", () => {
  const key = ["ghp", "_", "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2"].join("");
  const all: Sharing = { from: null, to: null, masked: true };
  const open = (traceId: string, version: string, shown = all) =>
    sharedOutline({ userId, traceId, expiresAt: null, version, shown });
  const content = `case when p % 50 = 0 then 'Question ' || p || ' ${key} in /home/ada/x' else 'Answer ' || p end`;

  test("has only what others see: turns of the range, without secrets and home folders", async () => {
    const id = await storeSession(userId, { messages: 200, sourceId: "outlined", content });
    const outline = await open(id, "1", { ...all, from: 50, to: 149 });
    expect(outline?.turns.map(({ position, title }) => [position, title])).toEqual([
      [50, "Question 50 [redacted:github] in ~/x"],
      [100, "Question 100 [redacted:github] in ~/x"],
    ]);
    expect(outline?.span).toEqual({ first: 50, last: 149 });
    expect((await open(id, "1", { ...all, masked: false }))?.turns[1]?.title).toContain(key);
    expect(await readOutlineForOthers(userId, id, all, 1000)).toBeUndefined();
    await expect(readOutlineForOthers(nobody, id, all)).rejects.toThrow("Not found.");
  });

  test("is read once for all who ask at a time, and again when the session has changed", async () => {
    const before = (await Promise.all(Array.from({ length: 100 }, () => open(one, "1")))).map(
      (outline) => outline?.turns,
    );
    expect(new Set(before).size).toBe(1);
    expect(before[0]).toHaveLength(20);
    expect((await open(one, "1"))?.turns).toBe(before[0]);
    expect((await open(one, "2"))?.turns).not.toBe(before[0]);
    expect((await open(one, "2"))?.turns).toEqual(before[0]);
  });
});

describe("a session as Markdown", () => {
  test("has its facts, and a heading for every message", async () => {
    const text = await new Response(await streamMarkdown(userId, await getTraceRow(userId, one))).text();
    expect(text).toMatch(/^# A long session\n\n- Agent: claude-code\n- Session: long-1000\n- Model: opus-4\n/);
    expect(text.match(/^## (user|assistant) · 2026-\S+Z · #\d+$/gm)).toHaveLength(1000);
  });

  test("breaks off when messages are gone since its head was read", async () => {
    const row = await getTraceRow(userId, one);
    const text = new Response(await streamMarkdown(userId, { ...row, messageCount: row.messageCount + 1 })).text();
    await expect(text).rejects.toThrow("while it was exported");
  });

  test("leaves out missing facts, and fences metadata with more backticks than it contains", async () => {
    const trace = {
      ...(await getTraceRow(userId, one)),
      model: null,
      project: null,
      createdAt: null,
      title: "Two\nlines",
    };
    expect(headMarkdown(trace)).toMatch(
      /^# Two lines\n\n- Agent: claude-code\n- Session: long-1000\n- Last activity: /,
    );
    const message = { position: 3, role: null, content: "", tokenCount: null, createdAt: null };
    expect(messageMarkdown({ ...message, metadata: null })).toBe("\n## unknown · #3\n");
    expect(messageMarkdown({ ...message, content: "Hi\n", metadata: { a: "````" } })).toBe(
      '\n## unknown · #3\n\nHi\n\n`````json\n{\n  "a": "````"\n}\n`````\n',
    );
    const ticks = "`a".repeat(131_072);
    expect(messageMarkdown({ ...message, metadata: { ticks } })).toContain(ticks);
  });
});
