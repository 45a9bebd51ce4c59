import { expect, test } from "vitest";
import { copilot } from "../../cli/adapters/copilot/adapter.ts";
import { makeHome, parseAll, toLines } from "./home.ts";

const id = "0199cccc-2222-4333-8444-666666666666";
let seconds = 0;
const event = (type: string, data: object, agentId?: string) => ({
  type,
  data,
  id: `e${seconds}`,
  timestamp: new Date(Date.parse("2026-11-01T10:00:00Z") + seconds++ * 1000).toISOString(),
  ...(agentId && { agentId }),
});
const recorded = (apiCallId: string, inputTokens: number, more: object = {}, agentId?: string) => {
  const usage = {
    model: "claude-sonnet-4.5",
    inputTokens,
    outputTokens: 40,
    cacheReadTokens: 1000,
    cacheWriteTokens: 30,
  };
  return event(
    "session.usage_record",
    { usage: { apiCallId, reasoningTokens: 8, cost: 1, ...usage, ...more } },
    agentId,
  );
};
const answered = (apiCallId: string, content: string, more: object = {}, agentId?: string) =>
  event("assistant.message", { apiCallId, content, toolRequests: [], ...more }, agentId);
const request = (toolCallId: string) => ({ toolCallId, name: "task", arguments: "{}", type: "function" });
const read = async (...records: object[]) =>
  parseAll(copilot, await makeHome({ [`.copilot/session-state/${id}/events.jsonl`]: toLines(...records) }));

const begun = [
  event("session.start", { sessionId: id, context: { cwd: "/code/web" } }),
  event("user.message", { content: "Go" }),
  recorded("m1", 1131, { providerCallId: "req-1", finishReason: "tool_calls" }),
  answered("m1", "I send somebody.", { toolRequests: [request("c1")], model: "claude-sonnet-4.5" }),
  event("subagent.started", { toolCallId: "c1" }, "a1"),
  recorded("m2", 1132, {}, "a1"),
  answered("m2", "Looked.", {}, "a1"),
];
const each = { outputTokens: 40, cacheReadTokens: 1000, cacheWriteTokens: 30, reasoningTokens: 8 };

test("a killed session and its sub-agent have the tokens of each request that was recorded", async () => {
  const { sessions, unhandled } = await read(...begun);
  expect(sessions.map(({ sourceId, ending }) => [sourceId, ending.metadata?.usage])).toEqual([
    [id, { inputTokens: 101, ...each }],
    [`${id}/c1`, { inputTokens: 102, ...each }],
  ]);
  expect(sessions[0]?.messages[1]).toMatchObject({
    content: "I send somebody.",
    tokenCount: 40,
    metadata: { model: "claude-sonnet-4.5", requestId: "req-1", stopReason: "tool_calls", usage: { inputTokens: 101 } },
  });
  // Its `cost` counts premium requests.
  expect(sessions[0]?.messages[1]?.metadata?.costUsd).toBeUndefined();
  expect(unhandled).toEqual([]);
});

test("recorded requests count once, whatever parts, repetitions and totals follow; those of other models name them", async () => {
  const totals = { inputTokens: 9999, outputTokens: 999, cacheReadTokens: 9, cacheWriteTokens: 9 };
  const { sessions } = await read(
    ...begun.slice(0, 4),
    answered("m1", "The second part.", { chunkIndex: 1, outputTokens: 40 }),
    recorded("m1", 1131),
    // A compaction's request, and one of a smaller model.
    recorded("m3", 1133),
    recorded("m4", 1134, { model: "gpt-5-mini" }),
    event("session.shutdown", {
      currentModel: "claude-sonnet-4.5",
      modelMetrics: { "claude-sonnet-4.5": { usage: totals } },
    }),
  );
  const [session] = sessions;
  expect(session?.ending).toMatchObject({
    model: "claude-sonnet-4.5",
    metadata: {
      usage: {
        inputTokens: 101 + 103 + 104,
        outputTokens: 120,
        cacheReadTokens: 3000,
        cacheWriteTokens: 90,
        reasoningTokens: 24,
      },
    },
  });
  expect(session?.messages.at(-1)).toEqual({
    role: "system",
    content: "Requests beside the conversation.",
    tokenCount: 40,
    metadata: { kind: "notice", model: "gpt-5-mini", usage: { inputTokens: 104, ...each } },
  });
});

test("a compaction's requests count once, whether they were recorded or only told with the compaction", async () => {
  const used = {
    inputTokens: 1133,
    outputTokens: 40,
    cacheReadTokens: 1000,
    cacheWriteTokens: 30,
    model: "gpt-5-mini",
  };
  const compacted = (more: object) => event("session.compaction_complete", { summaryContent: "So far.", ...more });
  const told = await read(...begun.slice(0, 4), compacted({ compactionTokensUsed: used }));
  expect(told.sessions[0]?.ending.metadata?.usage).toMatchObject({ inputTokens: 101 + 103, outputTokens: 80 });
  expect(told.sessions[0]?.messages.at(-1)?.metadata).toMatchObject({
    model: "gpt-5-mini",
    usage: { inputTokens: 103 },
  });
  const recordedToo = await read(...begun.slice(0, 4), recorded("m3", 1133), compacted({ compactionTokensUsed: used }));
  expect(recordedToo.sessions[0]?.ending.metadata?.usage).toMatchObject({ inputTokens: 101 + 103, outputTokens: 80 });
});

test("a result has a command's exit code, and the diff of what was changed with the files' whole paths", async () => {
  const done = (toolCallId: string, more: object) =>
    event("tool.execution_complete", { toolCallId, success: true, ...more });
  const heading = "\ndiff --git a/code/web/a.ts b/code/web/a.ts\ncreate file mode 100644\nindex 0000000..0000000\n";
  const same = `${heading}--- a/code/web/a.ts\n+++ b/code/web/a.ts\n@@ -1 +1 @@\n one\n`;
  const { sessions } = await read(
    ...begun.slice(0, 4),
    done("c1", { shellExecution: { exitCode: 3 }, result: { content: "no" } }),
    done("c2", {
      fileEdits: [{ path: "/code/web/a.ts", kind: "create" }],
      result: {
        content: "Created",
        detailedContent: `${heading}--- a/dev/null\n+++ b/code/web/a.ts\n@@ -1,0 +1,1 @@\n+one\n`,
      },
    }),
    done("c3", { result: { content: "one", detailedContent: same } }),
  );
  expect(sessions[0]?.messages.flatMap(({ metadata }) => metadata?.result ?? [])).toEqual([
    { callId: "c1", exitCode: 3 },
    { callId: "c2", patch: "--- /dev/null\n+++ /code/web/a.ts\n@@ -1,0 +1,1 @@\n+one\n" },
    { callId: "c3" },
  ]);
});
