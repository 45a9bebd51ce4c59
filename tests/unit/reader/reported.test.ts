import { expect, test } from "vitest";
import { makeFileReader } from "#lib/transcript/files/touches";
import type { ReaderMessage } from "#lib/transcript/message";
import { describeTool } from "#lib/transcript/tools/tools";

const patch = [
  "--- /dev/null\n+++ /home/ada/api/new.txt\n@@ -0,0 +1,2 @@\n+one\n+two",
  "--- /home/ada/api/src/a.ts\n+++ /home/ada/api/src/a.ts\n@@ -1,2 +1,1 @@\n-a\n b",
  "--- /home/ada/api/old.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-gone",
].join("\n");
const call = { name: "Bash", input: { command: "make generated" } };
const done = { output: "done", exitCode: 0 };

test("a command touched the files that its result reports, whatever the command was", () => {
  const reader = makeFileReader({ source: "claude-code", metadata: { cwd: "/home/ada/api" } });
  const message = (position: number, role: string, metadata: Record<string, unknown>): ReaderMessage => ({
    ...{ position, role, content: "Bash", tokenCount: null, createdAt: null },
    metadata,
  });
  reader.add(message(0, "assistant", { tool: { ...call, callId: "c", content: "call" } }));
  reader.add(message(1, "tool", { result: { callId: "c", patch } }));
  expect(reader.touches().map(({ action, path, added, removed }) => [action, path, added, removed])).toEqual([
    ["write", "new.txt", 2, 0],
    ["edit", "src/a.ts", 0, 1],
    ["delete", "old.txt", 0, 1],
  ]);
});

test("a command's row has what it changed, and stays a command", () => {
  const part = describeTool(call, { ...done, patch });
  expect(part).toMatchObject({ kind: "shell", title: "make generated", changes: { added: 2, removed: 2 } });
  expect(part.files?.map(({ path }) => path.slice("/home/ada/api/".length))).toEqual([
    "new.txt",
    "src/a.ts",
    "old.txt",
  ]);
  expect(part.blocks.map(({ type }) => type)).toEqual(["code", "diff", "diff", "diff", "output"]);
  expect(describeTool(call, done).changes).toBeUndefined();
});
