import { expect, test } from "vitest";
import { copilot } from "../../cli/adapters/copilot/adapter.ts";
import { makeHome, parseAll, toLines, told } from "./home.ts";

const id = "0199cccc-2222-4333-8444-555555555555";
const path = `.copilot/session-state/${id}/events.jsonl`;
const parse = async (...records: unknown[]) => parseAll(copilot, await makeHome({ [path]: toLines(...records) }));

let seconds = 0;
const event = (type: string, data: object) => ({
  type,
  data,
  id: `e${seconds}`,
  timestamp: new Date(Date.parse("2026-11-01T10:00:00Z") + seconds++ * 1000).toISOString(),
});
const start = () =>
  event("session.start", {
    sessionId: id,
    copilotVersion: "1.0.77",
    startTime: "2026-11-01T09:59:59.000Z",
    context: { cwd: "/home/ada/code/web", branch: "main" },
  });
const asked = (content: string, more: object = {}) => event("user.message", { content, ...more });
const answered = (content: string, more: object = {}) =>
  event("assistant.message", { content, toolRequests: [], model: "gpt-5.2", outputTokens: 5, ...more });
const requested = (toolCallId: string) => ({
  toolCallId,
  name: "bash",
  arguments: '{"command":"ls"}',
  type: "function",
});
const done = (toolCallId: string, more: object = {}) =>
  event("tool.execution_complete", { toolCallId, success: true, result: { content: "a.txt" }, ...more });

test("a session has its turns, thoughts, calls with results, folder, branch, version and tokens", async () => {
  const { sessions, counts, unhandled } = await parse(
    start(),
    asked("List the files", { attachments: [{ type: "file", path: "/home/ada/notes.md", displayName: "notes.md" }] }),
    event("assistant.turn_start", { turnId: "0" }),
    event("assistant.reasoning", { content: "ls will do." }),
    answered("", { reasoningText: "ls will do.", toolRequests: [requested("c1")], outputTokens: 12 }),
    event("tool.execution_start", { toolCallId: "c1", toolName: "bash", arguments: { command: "ls" } }),
    done("c1", { toolTelemetry: { metrics: { durationMs: 4 } } }),
    answered("There is one."),
    event("session.shutdown", {
      modelMetrics: {
        "gpt-5.2": { usage: { inputTokens: 1000, outputTokens: 17, cacheReadTokens: 800, cacheWriteTokens: 50 } },
      },
    }),
  );
  const call = { tool: { name: "bash", callId: "c1", input: { command: "ls" }, content: "call" } };
  const attachments = [{ type: "file", name: "/home/ada/notes.md" }];
  expect(sessions).toMatchObject([
    {
      source: "copilot-cli",
      sourceId: id,
      messages: [
        { role: "user", content: "List the files", metadata: { attachments } },
        { role: "assistant", content: "ls will do.", metadata: { kind: "thinking" } },
        { role: "assistant", content: "bash\nls", tokenCount: 12, metadata: { ...call, model: "gpt-5.2" } },
        { role: "tool", content: "a.txt", metadata: { result: { callId: "c1" }, durationMs: 4 } },
        { role: "assistant", content: "There is one.", tokenCount: 5 },
      ],
      ending: {
        model: "gpt-5.2",
        project: "web",
        createdAt: "2026-11-01T09:59:59.000Z",
        metadata: {
          cwd: "/home/ada/code/web",
          branch: "main",
          agentVersion: "1.0.77",
          usage: { inputTokens: 150, outputTokens: 17, cacheReadTokens: 800, cacheWriteTokens: 50 },
        },
      },
    },
  ]);
  expect([counts, unhandled]).toEqual([{ entries: 9, skipped: 4, invalid: 0 }, []]);
});

test("a command that no answer requested is shown with its call, and a failed one as failed", async () => {
  const { sessions } = await parse(
    start(),
    event("tool.execution_start", { toolCallId: "c1", toolName: "bash", arguments: { command: "make" } }),
    done("c1", { success: false, result: undefined, error: { message: "no rule" } }),
  );
  expect(sessions[0]?.messages).toMatchObject([
    { role: "assistant", content: "bash\nmake" },
    { role: "tool", content: "no rule", metadata: { result: { callId: "c1", isError: true } } },
  ]);
});

test("a command of the user's is shown with its call, also where no line says when it began", async () => {
  const { sessions, unhandled } = await parse(
    start(),
    event("tool.user_requested", { toolCallId: "c1", toolName: "bash", arguments: { command: "ls" } }),
    done("c1", { result: { content: "a.ts" } }),
  );
  expect(sessions[0]?.messages).toMatchObject([{ content: "bash\nls" }, { role: "tool", content: "a.ts" }]);
  expect(unhandled).toEqual([]);
});

test("a sub-agent's events are a session of their own, which names its parent and is named by the call's result", async () => {
  const inside = { parentToolCallId: "c1" };
  const { sessions } = await parse(
    start(),
    answered("Asking.", { toolRequests: [requested("c1")] }),
    event("subagent.started", { toolCallId: "c1", agentName: "explore" }),
    answered("Looking.", { ...inside, toolRequests: [requested("c2")] }),
    done("c2", inside),
    event("subagent.completed", { toolCallId: "c1" }),
    done("c1"),
    answered("Found."),
  );
  expect(sessions.map(({ sourceId, messages }) => [sourceId, messages.length])).toEqual([
    [id, 4],
    [`${id}/c1`, 3],
  ]);
  expect(sessions[0]?.messages[2]?.metadata).toMatchObject({ result: { callId: "c1", session: `${id}/c1` } });
  expect(sessions[1]?.ending.metadata).toMatchObject({ parent: id, cwd: "/home/ada/code/web" });
});

test("newer versions name a sub-agent by its own id, and the call only where it starts", async () => {
  const inside = (record: object) => ({ ...record, agentId: "explore-1" });
  const { sessions, unhandled } = await parse(
    start(),
    answered("Asking.", { toolRequests: [requested("c1")] }),
    inside(event("subagent.started", { toolCallId: "c1", agentName: "explore" })),
    inside(asked("Look around.", { source: "agent-main" })),
    inside(answered("Looking.", { toolRequests: [requested("c2")] })),
    inside(done("c2")),
    inside(event("subagent.failed", { toolCallId: "c1", error: "lost" })),
    done("c1"),
    asked("The sub-agent is done.", { source: "agent-explore-1" }),
    asked("Go on.", { isAutopilotContinuation: true }),
    event("session.handoff", { summary: "They looked.", sourceType: "remote" }),
    event("session.context_cleared", { messagesCleared: 4 }),
    event("permission.requested", { requestId: "r" }),
    { ...answered("Hm."), agentId: "unknown" },
  );
  expect(sessions.map(({ sourceId, messages }) => [sourceId, told(messages)])).toEqual([
    [
      id,
      [
        ["assistant", "Asking.", undefined],
        ["assistant", "bash\nls", undefined],
        ["tool", "a.txt", { callId: "c1", session: `${id}/c1` }],
        ["user", "The sub-agent is done.", "notice"],
        ["user", "Go on.", "notice"],
        ["system", "They looked.", "notice"],
        ["system", "The conversation so far was cleared.", "notice"],
      ],
    ],
    [
      `${id}/c1`,
      [
        ["user", "Look around.", undefined],
        ["assistant", "Looking.", undefined],
        ["assistant", "bash\nls", undefined],
        ["tool", "a.txt", { callId: "c2" }],
      ],
    ],
    [`${id}/unknown`, [["assistant", "Hm.", undefined]]],
  ]);
  expect([sessions[1]?.ending.metadata?.parent, unhandled]).toEqual([id, []]);
});

test("an answer that came in parts counts its tokens once", async () => {
  const part = (content: string, chunkIndex: number, apiCallId: string) =>
    answered(content, { chunkIndex, chunkCount: 2, apiCallId, outputTokens: 40 });
  const { sessions } = await parse(start(), part("One", 0, "a"), part("two", 1, "a"), part("Three", 0, "b"));
  expect(sessions[0]?.messages.map(({ tokenCount }) => tokenCount)).toEqual([40, undefined, 40]);
});

test("over fifty sub-agents are read in a bounded number of passes, and none is left out", async () => {
  const agents = Array.from({ length: 60 }, (_, n) => answered(`Agent ${n}`, { parentToolCallId: `c${n}` }));
  const { sessions } = await parse(start(), answered("Hi"), ...agents);
  expect(sessions).toHaveLength(52);
  expect(sessions.at(-1)).toMatchObject({ sourceId: `${id}/more`, ending: { metadata: { parent: id } } });
  expect(sessions.flatMap(({ messages }) => messages)).toHaveLength(61);
});

test("what the program added is a notice; the name beside the events is the title; a file without folder is read too", async () => {
  const home = await makeHome({
    [path]: toLines(start(), asked("<skill-context>Use tabs.</skill-context>"), event("abort", { reason: "user" })),
    [`.copilot/session-state/${id}/workspace.yaml`]: 'id: x\nname: "Tabs or spaces"\n',
    ".copilot/session-state/old.jsonl": toLines(asked("Hello"), event("made.up", {})),
    ".copilot/session-state/x/notes.jsonl": toLines({ type: "other" }),
  });
  const { sessions, unhandled } = await parseAll(copilot, home);
  expect(sessions.map(({ sourceId, ending }) => [sourceId, ending.title])).toEqual([
    [id, "Tabs or spaces"],
    ["old", undefined],
  ]);
  expect(sessions[0]?.messages).toMatchObject([
    { role: "user", metadata: { kind: "notice" } },
    { content: "Aborted: user", metadata: { kind: "notice" } },
  ]);
  expect(unhandled).toEqual(["made.up"]);
});
