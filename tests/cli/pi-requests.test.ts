import { expect, test } from "vitest";
import { pi } from "../../cli/adapters/pi/adapter.ts";
import { makeHome, parseAll, toLines } from "./home.ts";

const id = "0199dddd-2222-7333-8444-666666666666";
const at = "2026-11-01T10:00:00.000Z";
const entry = (type: string, more: object) => ({ type, id: "e", parentId: null, timestamp: at, ...more });
const used = { input: 12, output: 7, cacheRead: 100, cacheWrite: 33, cost: { total: 0.25 } };
const parse = async (...records: object[]) => {
  const path = `.pi/agent/sessions/--code-web--/2026-11-01T10-00-00-000Z_${id}.jsonl`;
  const header = { type: "session", version: 3, id, timestamp: at, cwd: "/code/web" };
  return parseAll(pi, await makeHome({ [path]: toLines(header, ...records) }));
};

test("an answer's thoughts, and what it wrote to the cache for an hour, are known", async () => {
  const usage = { ...used, cacheWrite1h: 22, reasoning: 4 };
  const answer = { role: "assistant", model: "claude-sonnet-4-5", content: "Hello", usage };
  const { sessions } = await parse(entry("message", { message: answer }));
  expect(sessions[0]?.messages[0]?.metadata?.usage).toEqual({
    inputTokens: 12,
    outputTokens: 7,
    cacheReadTokens: 100,
    cacheWriteTokens: 33,
    cacheWrite5mTokens: 11,
    cacheWrite1hTokens: 22,
    reasoningTokens: 4,
  });
});

test("requests beside the conversation count, and edits of the context are notices", async () => {
  const { sessions, unhandled } = await parse(
    entry("message", { message: { role: "user", content: "Hi" } }),
    entry("usage", { kind: "cache_warm", provider: "anthropic", model: "claude-sonnet-4-5", usage: used }),
    entry("compaction", { summary: "They greeted.", usage: used }),
    entry("context_edit", { targetId: "e", replacement: null }),
    entry("context_edit", { targetId: "e", replacement: { content: [{ type: "text", text: "Shorter" }] } }),
  );
  expect(
    sessions[0]?.messages.slice(1).map(({ content, metadata }) => [content, metadata?.kind, metadata?.costUsd]),
  ).toEqual([
    ["Request beside the conversation: cache_warm.", "notice", 0.25],
    ["They greeted.", "notice", 0.25],
    ["An earlier message was left out of further requests.", "notice", undefined],
    ["An earlier message was replaced in further requests:\n\nShorter", "notice", undefined],
  ]);
  expect(sessions[0]?.ending).toMatchObject({
    model: "claude-sonnet-4-5",
    metadata: { usage: { inputTokens: 24, outputTokens: 14, cacheReadTokens: 200, cacheWriteTokens: 66 } },
  });
  expect(unhandled).toEqual([]);
});

test("an edit has its unified diff instead of the one with the lines' numbers, and its time", async () => {
  const patch = "--- a.ts\n+++ a.ts\n@@ -1 +1 @@\n-one\n+two\n";
  const details = { diff: "-1 one\n+1 two", patch };
  const result = { role: "toolResult", toolCallId: "c1", content: "Replaced", details, durationMs: 45 };
  const { sessions } = await parse(entry("message", { message: result }));
  expect(sessions[0]?.messages[0]?.metadata).toMatchObject({ result: { callId: "c1", patch }, durationMs: 45 });
});

test("a failed command has its exit code", async () => {
  const content = "no\n\n\nCommand exited with code 127";
  const result = { role: "toolResult", toolCallId: "c1", toolName: "bash", content, isError: true };
  const { sessions } = await parse(entry("message", { message: result }));
  expect(sessions[0]?.messages[0]?.metadata?.result).toEqual({ callId: "c1", isError: true, exitCode: 127 });
});
