import { describe, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool } from "#lib/db/client";
import { deleteTrace } from "#lib/traces/deletion";
import { setMarks } from "#lib/traces/marks";
import { marksShape } from "#lib/traces/marks-schema";
import { makeUser, provideOwner } from "../support/server.ts";
import { messages, uploadsOf } from "./uploads.ts";

const { userId } = await provideOwner();
const { send, stored } = uploadsOf(userId);

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
