import { expect, test } from "vitest";
import { cursor } from "../../cli/adapters/cursor/adapter.ts";
import { discoverAll, makeHome, parseAll, toLines } from "./home.ts";

const folder = ".cursor/projects/code-api/agent-transcripts";

const plain = `user:
<user_info>
OS: linux
</user_info>
<user_query>
Fix the timer
</user_query>

assistant:
[Thinking] It may be the interval.
  Look at it first.
I look at it.

[Tool call] Read
  path: src/timer.ts
  limit: 20
[Tool result] Read
  export const interval = 5;

    const nested = 1;
[Tool call] ApplyPatch
  @@ -1 +1 @@
  -old
  +new
[Tool result] ApplyPatch
[Tool call] Shell
  {"command":"npm test"}
[Tool call] Think
  no fields here
It is fixed.
  - indented words
assistant:
user:
Thanks
assistant:
You are welcome.`;

test("transcripts of 2025, which are text, have their words, thoughts, calls and the results that are there", async () => {
  const host = await makeHome({ [`${folder}/s-1.txt`]: plain, ".cursor/projects/code-api/terminals/1.txt": plain });
  const { sessions, counts, unhandled } = await parseAll(cursor, host);
  expect(sessions.map(({ sourceId }) => sourceId)).toEqual(["s-1"]);
  expect(sessions[0]?.messages).toMatchObject([
    { content: expect.stringContaining("OS: linux"), metadata: { kind: "notice" } },
    { role: "user", content: "Fix the timer" },
    { content: "It may be the interval.\nLook at it first.", metadata: { kind: "thinking" } },
    { role: "assistant", content: "I look at it." },
    { metadata: { tool: { name: "Read", callId: "call-1", input: { path: "src/timer.ts", limit: "20" } } } },
    {
      role: "tool",
      content: "export const interval = 5;\n\n  const nested = 1;",
      metadata: { result: { callId: "call-1" } },
    },
    { metadata: { tool: { name: "ApplyPatch", callId: "call-2", input: { patch: "@@ -1 +1 @@\n-old\n+new" } } } },
    { metadata: { tool: { name: "Shell", callId: "call-3", input: { command: "npm test" } } } },
    { metadata: { tool: { name: "Think", callId: "call-4", input: { input: "no fields here" } } } },
    { role: "assistant", content: "It is fixed.\n  - indented words" },
    { role: "user", content: "Thanks" },
    { role: "assistant", content: "You are welcome." },
  ]);
  expect(sessions[0]?.messages).toHaveLength(12);
  expect([counts, unhandled]).toEqual([{ entries: 5, skipped: 1, invalid: 0 }, []]);
});

test("a session that was written in both forms is read as JSON", async () => {
  const json = toLines({ role: "user", message: { content: [{ type: "text", text: "Hi" }] } });
  const host = await makeHome({
    [`${folder}/s-1.txt`]: plain,
    [`${folder}/s-1/s-1.jsonl`]: json,
    [`${folder}/s-2/s-2.txt`]: plain,
    [`${folder}/s-2/s-2.jsonl`]: json,
    [`${folder}/s-3/s-3.txt`]: "no transcript\n",
  });
  const found = (await discoverAll(cursor, host)).map(({ path }) => path.replace(/.*agent-transcripts./, ""));
  expect(found.sort()).toEqual(["s-1/s-1.jsonl", "s-2/s-2.jsonl", "s-3/s-3.txt"]);
  expect((await parseAll(cursor, host)).sessions).toHaveLength(2);
});
