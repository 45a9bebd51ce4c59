import { afterEach, describe, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool } from "#lib/db/client";
import { listTouching, listTraceFiles, sumEdits } from "#lib/files/files";
import { accountTraces } from "#lib/ledger/account";
import { requestReaccounting } from "#lib/ledger/version";
import { deleteTrace } from "#lib/traces/deletion";
import { listTraces } from "#lib/traces/queries";
import { provideOwner } from "../support/server.ts";
import { clearTraces } from "./searching.ts";
import { getUploads } from "./uploads.ts";

const { userId } = await provideOwner();
const { send, stored } = getUploads(userId);
afterEach(async () => {
  await clearTraces();
  await pool().query("delete from trace_file");
});

type Message = {
  position: number;
  createdAt?: string;
  role: string;
  content: string;
  metadata: Record<string, unknown>;
};

/** An edit that removes a line and adds some, and its result. Without `id` and `at` nothing tells it from others. */
function edit(
  number: number,
  path: string,
  lines: number,
  told: { id?: string; at?: string } = told0(number),
): Message[] {
  const input = { file_path: `/home/ada/api/${path}`, old_string: "old", new_string: "new\n".repeat(lines).trim() };
  const tool = { name: "Edit", callId: told.id, input, content: "call" };
  const at = told.at === undefined ? {} : { createdAt: told.at };
  return [
    { position: 2 * number, ...at, role: "assistant", content: "Edit", metadata: { tool } },
    { position: 2 * number + 1, ...at, role: "tool", content: "done", metadata: { result: { callId: told.id } } },
  ];
}
const told0 = (number: number) => ({ id: `edit:${number}`, at: `2026-10-01T10:00:0${number}.000Z` });
/** The same, as a client marks it that has seen the original. */
const marked = (messages: Message[]) =>
  messages.map(({ metadata, ...one }) => ({ ...one, metadata: { ...metadata, replayed: true } }));

const sync = async (sourceId: string, messages: object[], more: object = {}) => {
  await send({ sourceId, source: "claude-code", messages, metadata: { cwd: "/home/ada/api" }, ...more });
  await accountTraces(30);
};
const readId = async (sourceId: string) => (await stored(sourceId))?.id ?? expect.fail(`there is no ${sourceId}`);
const remove = async (sourceId: string) => {
  await deleteTrace(userId, await readId(sourceId), operator);
  await accountTraces(30);
};

/** What counts of each session: files, lines added and lines removed. */
async function counted(...sourceIds: string[]) {
  const { traces } = await listTraces(userId, {}, { limit: 100 });
  return sourceIds.map((sourceId) => {
    const { filesChanged, linesAdded, linesRemoved } = traces.find((one) => one.sourceId === sourceId) ?? expect.fail();
    return [filesChanged, linesAdded, linesRemoved];
  });
}
/** The sessions that the page of a file has, and the lines that each added to it. */
async function touching(path: string) {
  const { files } = await listTouching(userId, { path, action: "changed", limit: 100 });
  const sourceIds = new Map(
    (await listTraces(userId, {}, { limit: 100 })).traces.map(({ id, sourceId }) => [id, sourceId]),
  );
  return Object.fromEntries(files.map(({ traceId, added }) => [sourceIds.get(traceId), added]));
}
const filtered = async (file: string) =>
  (await listTraces(userId, { file }, { limit: 100 })).traces.map(({ sourceId }) => sourceId).toSorted();

const lines = [...edit(0, "src/a.ts", 2), ...edit(1, "src/b.ts", 3)];
const own = edit(2, "src/a.ts", 5);

test("an edit that was copied counts in the original as long as that is there, and else in one of its copies", async () => {
  await sync("fork", [...marked(lines), ...own]);
  expect(await counted("fork")).toEqual([[2, 10, 3]]);
  await sync("original", lines);
  await sync("second", marked(lines));
  const together = [
    [1, 5, 1],
    [2, 5, 2],
    [0, 0, 0],
  ];
  expect(await counted("fork", "original", "second")).toEqual(together);
  expect(await touching("a.ts")).toEqual({ fork: 5, original: 2 });
  expect(await touching("src/b.ts")).toEqual({ original: 3 });
  expect(await filtered("a.ts")).toEqual(["fork", "original"]);
  expect(await filtered("b.ts")).toEqual(["original"]);
  await requestReaccounting();
  await accountTraces(30);
  expect(await counted("fork", "original", "second")).toEqual(together);
  await remove("original");
  expect((await counted("fork", "second")).reduce((sum, [, added = 0]) => sum + added, 0)).toBe(10);
  expect(await filtered("b.ts")).toHaveLength(1);
  await remove("fork");
  expect(await counted("second")).toEqual([[2, 5, 2]]);
  await sync("late", lines);
  expect(await counted("late", "second")).toEqual([
    [2, 5, 2],
    [0, 0, 0],
  ]);
});

test("a session's own page has all of its edits, also those that count elsewhere", async () => {
  await sync("original", lines);
  await sync("fork", [...marked(lines), ...own]);
  const id = await readId("fork");
  expect((await listTraceFiles(userId, id, { action: "any", limit: 10 })).files).toMatchObject([
    { path: "src/a.ts", edits: 2, added: 7 },
    { path: "src/b.ts", edits: 1, added: 3 },
  ]);
  expect(await sumEdits(userId, id)).toEqual({ added: 10, removed: 3 });
});

test("an edit that two machines' sessions have counts once, whichever comes first, also where a fork grows", async () => {
  for (const order of [
    ["one", "other"],
    ["other", "one"],
  ] as const) {
    for (const sourceId of order) await sync(sourceId, lines.slice(0, 2));
    for (const sourceId of order) await sync(sourceId, lines);
    expect((await counted("one", "other")).toSorted()).toEqual([
      [0, 0, 0],
      [2, 5, 2],
    ]);
    await clearTraces();
    await pool().query("delete from trace_file");
  }
});

describe("what is the same edit", () => {
  /** The lines that two sessions count together, of which the second may be a copy. */
  async function together(first: Message[], second: object[], more: object = {}): Promise<number> {
    await sync("first", first, more);
    await sync("second", second, more);
    return (await counted("first", "second")).reduce((sum, [, added = 0]) => sum + added, 0);
  }
  const later = { at: "2026-10-01T11:00:00.000Z" };
  const unique = { id: "call_Zx81kQmPw0aVn3YtRb7dLs2E" };
  const forked = { source: "codex-cli" };

  test("Codex' forks have new times: the call's id tells, where no other session has it", async () => {
    const original = edit(0, "a.ts", 2, { ...unique, at: "2026-10-01T10:00:00.123Z" });
    expect(await together(original, edit(0, "a.ts", 2, { ...unique, ...later }), forked)).toBe(2);
  });

  test("an id that numbers a session's calls tells nothing without the time", async () => {
    expect(await together(edit(0, "a.ts", 2, { id: "edit:0" }), edit(0, "a.ts", 2, { id: "edit:0" }))).toBe(4);
    expect(await together(edit(1, "a.ts", 2), edit(1, "a.ts", 2, { ...told0(1), ...later }), { replace: true })).toBe(
      4,
    );
  });

  test("a gateway's id that comes again is another call at another time, and both count in one session", async () => {
    const again = [
      ...edit(0, "a.ts", 2, { ...unique, at: told0(0).at }),
      ...edit(1, "a.ts", 3, { ...unique, ...later }),
    ];
    expect(await together(again, again.slice(2))).toBe(5);
  });

  test("several files of a name in one call are told apart, also where the session's folder is another one", async () => {
    const paths = ["x/index.ts", "y/index.ts"];
    const patch = paths.map((path) => `*** Add File: /home/ada/api/${path}\n+one\n+two\n`).join("");
    const input = { input: `*** Begin Patch\n${patch}*** End Patch` };
    const { createdAt } = own[0] ?? expect.fail();
    const call = (name: string) => [
      {
        position: 0,
        createdAt,
        role: "assistant",
        content: name,
        metadata: { tool: { name, callId: "p", input, content: "call" } },
      },
      { position: 1, createdAt, role: "tool", content: "Done", metadata: { result: { callId: "p" } } },
    ];
    await sync("first", call("apply_patch"));
    await sync("second", call("apply_patch"), { metadata: { cwd: "/home/ada/api/x" } });
    expect(await counted("first", "second")).toEqual([
      [2, 4, 0],
      [0, 0, 0],
    ]);
  });

  test("a copy of which nothing tells what it is a copy of does not count", async () => {
    const bare = edit(0, "a.ts", 2, {});
    expect(await together(bare, marked(bare))).toBe(2);
  });
});
