import { expect, test } from "vitest";
import { kimi } from "../../cli/adapters/kimi/adapter.ts";
import { makeHome, parseAll, toLines } from "./home.ts";

const folder = ".kimi-code/sessions/wd_web_1/session_1";
const time = Date.parse("2026-11-01T10:00:00.000Z");
const appended = (text: string, origin: object) => ({
  type: "context.append_message",
  message: { role: "user", content: [{ type: "text", text }], origin },
  time,
});
const event = (event: object) => ({ type: "context.append_loop_event", event, time });
const part = (part: object) => event({ type: "content.part", part });
const stepEnd = (output: number) =>
  event({ type: "step.end", usage: { inputOther: 10, output, inputCacheRead: 100, inputCacheCreation: 2 } });
const user = { kind: "user" };

const main = toLines(
  { type: "metadata", protocol_version: "1.4", created_at: time - 1000 },
  { type: "turn.prompt", input: [{ type: "text", text: "List" }], origin: user, time },
  appended("List", user),
  appended("<system-reminder>Use todos.</system-reminder>", { kind: "injection" }),
  { type: "llm.request", model: "kimi-k2", time },
  event({ type: "step.begin" }),
  part({ type: "think", think: "ls" }),
  event({ type: "tool.call", toolCallId: "Agent_0", name: "Agent", args: { prompt: "look" } }),
  event({
    type: "tool.result",
    toolCallId: "Agent_0",
    result: { output: "agent_id: agent-0\n\nDone.", isError: true },
  }),
  stepEnd(7),
  { type: "usage.record", usage: { output: 7 }, time },
  part({ type: "text", text: "One." }),
  stepEnd(3),
  { type: "context.apply_compaction", summary: "They listed.", time },
  { type: "new.line", time },
);

test("a session has its turns, thoughts, calls with results, each step's tokens, and its state's title", async () => {
  const home = await makeHome({
    [`${folder}/agents/main/wire.jsonl`]: main,
    [`${folder}/state.json`]: JSON.stringify({ title: "A list", workDir: "/home/ada/code/web" }),
  });
  const { sessions, counts, unhandled } = await parseAll(kimi, home);
  expect(sessions).toMatchObject([
    {
      source: "kimi-code",
      sourceId: "session_1",
      messages: [
        { role: "user", content: "List" },
        { role: "user", metadata: { kind: "notice" } },
        { content: "ls", tokenCount: 7, metadata: { kind: "thinking", model: "kimi-k2" } },
        { content: "Agent\nlook", metadata: { tool: { name: "Agent", callId: "Agent_0" } } },
        { role: "tool", metadata: { result: { callId: "Agent_0", isError: true, session: "session_1/agent-0" } } },
        { role: "assistant", content: "One.", tokenCount: 3 },
        { content: "They listed.", metadata: { kind: "notice" } },
      ],
      ending: {
        title: "A list",
        model: "kimi-k2",
        project: "web",
        createdAt: "2026-11-01T09:59:59.000Z",
        metadata: {
          cwd: "/home/ada/code/web",
          usage: { inputTokens: 20, outputTokens: 10, cacheReadTokens: 200, cacheWriteTokens: 4 },
        },
      },
    },
  ]);
  expect([counts, unhandled]).toEqual([{ entries: 15, skipped: 8, invalid: 0 }, ["new.line"]]);
});

test("a sub-agent's log is a session that names its parent; what started it is its question", async () => {
  const home = await makeHome({
    [`${folder}/agents/agent-0/wire.jsonl`]: toLines(
      appended("<git-context>\nBranch: main\n</git-context>\n\nLook", { kind: "system_trigger", name: "subagent" }),
      part({ type: "text", text: "Looked." }),
    ),
  });
  const { sessions } = await parseAll(kimi, home);
  expect(sessions).toMatchObject([
    {
      sourceId: "session_1/agent-0",
      messages: [
        { role: "user", content: "<git-context>\nBranch: main\n</git-context>", metadata: { kind: "notice" } },
        { role: "user", content: "Look" },
        { role: "assistant", content: "Looked." },
      ],
      ending: { metadata: { parent: "session_1" } },
    },
  ]);
});

test("a step without an end is sent, however long", async () => {
  const parts = Array.from({ length: 120 }, (_, n) => part({ type: "text", text: `Part ${n}` }));
  const { sessions } = await parseAll(
    kimi,
    await makeHome({ [`${folder}/agents/main/wire.jsonl`]: toLines(...parts) }),
  );
  expect(sessions[0]?.messages).toHaveLength(120);
});
