import { expect, test } from "vitest";
import { accountTraces } from "#lib/ledger/account";
import { suggest } from "#lib/traces/suggest";
import { makeUser, provideOwner } from "../support/server.ts";
import { indexAll } from "./searching.ts";
import { uploadsOf } from "./uploads.ts";

const { userId } = await provideOwner();
const { send } = uploadsOf(userId);
await send({
  ...{ sourceId: "one", source: "claude-code", model: "claude-opus-4-5", project: "timetable" },
  metadata: { cwd: "/home/ada/timetable" },
  messages: [
    { position: 0, role: "user", content: "the timer is idempotent" },
    {
      ...{ position: 1, role: "assistant", content: "Edit" },
      metadata: {
        tool: {
          ...{ name: "Edit", callId: "c1", content: "call" },
          input: { file_path: "/home/ada/timetable/src/watcher.ts", old_string: "a", new_string: "b" },
        },
      },
    },
    { position: 2, role: "tool", content: "done", metadata: { result: { callId: "c1" } } },
  ],
});
await accountTraces(60);
await indexAll();

const shown = async (text: string, user = userId) =>
  (await suggest(user, text)).map(({ kind, text: meant, q }) => `${kind} ${meant} = ${q}`);

test.each([
  ["idem", ["word idempotent = idempotent"]],
  ["alpha watch", ["file file:watcher.ts = alpha file:watcher.ts"]],
  ["time", ["word timer = timer", "project project:timetable = project:timetable"]],
  ["alpha -file:watch", ["file file:watcher.ts = alpha -file:watcher.ts"]],
  ["changed:WATCH", ["file changed:watcher.ts = changed:watcher.ts"]],
  ["cha", ["filter changed: = changed:"]],
  ["model:cl", ["filter model:claude-opus-4-5 = model:claude-opus-4-5"]],
  ["role:as", ["filter role:assistant = role:assistant"]],
  ["https:wat", []],
  ['"the wat', []],
  ["before:2", []],
  ["", []],
])("%j may become %j", async (text, expected) => {
  expect(await shown(text)).toEqual(expect.arrayContaining(expected));
  if (expected.length === 0) expect(await shown(text)).toEqual([]);
});

test("another person's words, files and projects are suggested to nobody", async () => {
  const bob = await makeUser({ name: "Bob", email: "bob@example.org", password: "" });
  for (const text of ["idem", "watch", "time", "file:watch", "changed:watch", "project:time", "model:cl"])
    expect(await shown(text, bob)).toEqual([]);
});
