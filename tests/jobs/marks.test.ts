import { describe, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool } from "#lib/db/client";
import { deleteTrace } from "#lib/traces/deletion";
import { countTraces } from "#lib/traces/facets";
import { addTag, markAll, setMarks } from "#lib/traces/marks";
import { marksShape } from "#lib/traces/schema";
import { waitingForLocks } from "../support/meanwhile.ts";
import { makeUser, provideOwner } from "../support/server.ts";
import { getUploads, messages } from "./uploads.ts";

const { userId } = await provideOwner();
const { send, stored } = getUploads(userId);

async function make(sourceId: string, title?: string) {
  await send({ sourceId, ...(title && { title }), messages: messages("Mend the timer") });
  return (await stored(sourceId))?.id ?? expect.fail("it is not stored");
}

const everything = { title: "My name", starred: true, archived: true, note: "Ask Bob", tags: ["release"] };

describe("what a person decides about a trace", () => {
  test("stays when it is sent again, grown, rewritten, appended to or replaced", async () => {
    const id = await make("kept", "The agent's");
    await setMarks(userId, id, everything);
    const marked = { title: "My name", customTitle: "My name", note: "Ask Bob", tags: ["release"] };
    for (const next of [
      { title: "The agent's", messages: messages("Mend the timer") },
      { title: "Another", messages: messages("Mend the timer", "more") },
      { messages: messages("Changed", "more") },
      { append: { count: 2 }, messages: messages("", "", "again").slice(2) },
      { replace: true, messages: messages("Short") },
    ]) {
      await send({ sourceId: "kept", ...next });
      expect(await stored("kept")).toMatchObject({ ...marked, starredAt: expect.any(String) });
      expect((await stored("kept"))?.archivedAt).toEqual(expect.any(String));
    }
  });

  test("a name goes before the agent's, and that before the derived one", async () => {
    const id = await make("named");
    expect((await stored("named"))?.title).toBe("Mend the timer");
    await send({ sourceId: "named", title: "The agent's", messages: messages("Mend the timer") });
    expect((await stored("named"))?.title).toBe("The agent's");
    await setMarks(userId, id, { title: "Mine" });
    expect((await stored("named"))?.title).toBe("Mine");
    await setMarks(userId, id, { title: null });
    expect(await stored("named")).toMatchObject({ title: "The agent's", customTitle: null });
  });

  test("what is left out stays, and nothing but the texts is searched again", async () => {
    const id = await make("partly");
    await setMarks(userId, id, everything);
    await pool().query("update trace set search_pending = false where id = $1", [id]);
    await setMarks(userId, id, { starred: false, archived: false });
    const pending = async () =>
      (await pool().query("select search_pending from trace where id = $1", [id])).rows[0].search_pending;
    expect(await stored("partly")).toMatchObject({ starredAt: null, archivedAt: null, note: "Ask Bob" });
    expect(await pending()).toBe(false);
    await setMarks(userId, id, { note: "" });
    expect((await stored("partly"))?.note).toBeNull();
    expect(await pending()).toBe(true);
  });

  test("goes when it is deleted, and no stranger sets it", async () => {
    const id = await make("gone");
    await setMarks(userId, id, everything);
    const stranger = await makeUser({ name: "Eve", email: "eve@example.org", password: "unused" });
    await expect(setMarks(stranger, id, { starred: false })).rejects.toMatchObject({ code: "not_found" });
    expect((await stored("gone"))?.starredAt).toEqual(expect.any(String));
    await deleteTrace(userId, id, operator);
    await expect(setMarks(userId, id, { note: "later" })).rejects.toMatchObject({ code: "not_found" });
    const { rows } = await pool().query(
      "select custom_title, starred_at, archived_at, note, tags from trace where user_id = $1 and id = $2",
      [userId, id],
    );
    expect(rows).toEqual([{ custom_title: null, starred_at: null, archived_at: null, note: null, tags: [] }]);
  });
});

test("the list counts what was not put away, up to a bound", async () => {
  const [first, second, third] = [await make("count-1"), await make("count-2"), await make("count-3")];
  await make("count-4");
  await pool().query("update trace set trivial = true where user_id = $1 and id = $2", [userId, second]);
  await pool().query("update trace set parent_id = $2 where user_id = $1 and id = $3", [userId, first, third]);
  for (const families of [undefined, true]) {
    const shown = { archived: false, trivial: false, families };
    const count = (max: number) => countTraces(userId, shown, max);
    const before = await count(100);
    await setMarks(userId, first, { archived: true });
    const { rows } = await pool().query(
      `select 1 from trace where user_id = $1 and deleted_at is null and archived_at is null and not trivial
        ${families ? "and parent_id is null" : ""}`,
      [userId],
    );
    expect([await count(100), before]).toEqual([rows.length, rows.length + 1]);
    expect(await count(1)).toBe(1);
    expect(await countTraces(userId, { ...shown, source: "nobody" }, 100)).toBe(0);
    await setMarks(userId, first, { archived: false });
  }
  const shown = { archived: false, trivial: false };
  const before = await countTraces(userId, shown, 100);
  await pool().query(
    `insert into trace (user_id, id, source, source_id, message_count, token_count, content_hash, upload_sequence, activity_at, trivial)
     select $1, gen_random_uuid(), 'test', 'put away ' || n, 0, 0, '', 0, now(), true from generate_series(1, 2500) as n`,
    [userId],
  );
  expect(await countTraces(userId, shown, 100)).toBe(before);
});

test.each([
  [{ tags: ["  #Release  2 ", "release 2", "Ünïcode"] }, { tags: ["release 2", "ünïcode"] }],
  [{ title: " a\n\u202eb\0 " }, { title: "a b" }],
  [{ note: "line\nline \ud800\0" }, { note: "line\nline \ufffd" }],
])("marks are stored as they can be shown: %j", (given, kept) => {
  expect(marksShape.parse(given)).toEqual(kept);
});

test.each([
  { tags: ["a,b"] },
  { tags: ["#"] },
  { tags: Array(21).fill("x") },
  { note: "x".repeat(10_001) },
  { starred: 1 },
])("refuses %j", (given) => {
  expect(marksShape.safeParse(given).success).toBe(false);
});

describe.each([
  ["a mark", (ids: string[]) => markAll(userId, ids, { starred: true })],
  ["a tag", (ids: string[]) => addTag(userId, ids, "several")],
])("%s on several sessions", (name, mark) => {
  // In whichever order PostgreSQL comes upon them, one of these is the other one.
  test.each(["1 2 3", "3 2 1"])("waits for an upload of them, and is no deadlock for it: made as %s", async (order) => {
    const made = order.split(" ").map((n) => `${name} ${order} ${n}`);
    const ids: string[] = [];
    for (const sourceId of made) ids.push(await make(sourceId));
    const [first, ...others] = made.toSorted();
    const upload = await pool().connect();
    const lock = (sourceId = "") =>
      upload.query("select 1 from trace where user_id = $1 and source_id = $2 for update", [userId, sourceId]);
    let marking: Promise<unknown> | undefined;
    try {
      await upload.query("begin");
      await lock(first);
      marking = mark(ids);
      await expect.poll(waitingForLocks).toBe(1);
      await upload.query("set local lock_timeout = '100ms'");
      for (const sourceId of others) await lock(sourceId);
    } finally {
      await upload.query("rollback");
      upload.release();
      await marking;
    }
  });
});
