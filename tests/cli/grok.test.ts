import { expect, test } from "vitest";
import { grok } from "../../cli/adapters/grok/adapter.ts";
import { discoverAll, makeHome, parseAll, toLines, told, writeBelow } from "./home.ts";

const id = "019a0000-0000-7000-8000-000000000001";
const folder = `.grok/sessions/%2Fcode%2Fweb/${id}`;
const start = Date.parse("2026-11-01T10:00:00Z") / 1000;
const at = (seconds: number) => new Date((start + seconds) * 1000).toISOString();
const update = (seconds: number, sessionUpdate: string, more: object = {}, method = "session/update") => ({
  timestamp: start + seconds,
  method,
  params: { sessionId: id, update: { sessionUpdate, ...more } },
});
const own = (seconds: number, sessionUpdate: string, more: object = {}) =>
  update(seconds, sessionUpdate, more, "_x.ai/session/update");
const text = (value: string) => ({ content: { type: "text", text: value } });
const asked = (seconds: number, value: string, promptIndex: number) =>
  update(seconds, "user_message_chunk", { ...text(value), _meta: { promptIndex } });
const usage = {
  inputTokens: 1000,
  cachedReadTokens: 600,
  outputTokens: 40,
  reasoningTokens: 9,
  costUsdTicks: 25_000_000,
};
const summary = {
  info: { id, cwd: "/code/web" },
  session_summary: "Look",
  generated_title: "A look around",
  created_at: at(0),
  current_model_id: "grok-4.5",
  head_branch: "main",
  git_remotes: ["https://example.org/ada/web.git"],
};
const talk = [
  asked(1, "What is in it?", 0),
  update(2, "agent_thought_chunk", text("I should ")),
  update(2, "agent_thought_chunk", text("list.")),
  update(3, "agent_message_chunk", text("Let me ")),
  update(3, "agent_message_chunk", text("look.")),
  update(4, "tool_call", { toolCallId: "c1", title: "run_terminal_command", status: "pending" }),
  update(4, "tool_call_update", { toolCallId: "c1", rawInput: { command: "ls" }, status: "in_progress" }),
  update(5, "tool_call_update", {
    toolCallId: "c1",
    status: "completed",
    content: [{ type: "content", ...text("a.ts") }],
  }),
  update(6, "plan", { entries: [] }),
  update(7, "agent_message_chunk", text("One file.")),
  own(8, "turn_completed", { prompt_id: "p1", stop_reason: "end_turn", usage }),
  own(8, "turn_completed", { prompt_id: "p1", stop_reason: "end_turn", usage }),
];

const home = (lines: unknown[], about: object = summary) =>
  makeHome({ [`${folder}/updates.jsonl`]: toLines(...lines), [`${folder}/summary.json`]: JSON.stringify(about) });

test("a session has its turns, calls with results, times, and each turn's tokens and cost once", async () => {
  const { sessions, counts, unhandled } = await parseAll(grok, await home(talk));
  const used = { inputTokens: 400, outputTokens: 40, cacheReadTokens: 600, reasoningTokens: 9 };
  expect(sessions).toEqual([
    {
      source: "grok-build",
      sourceId: id,
      messages: [
        { role: "user", content: "What is in it?", createdAt: at(1) },
        {
          role: "assistant",
          content: "I should list.",
          createdAt: at(2),
          tokenCount: 40,
          metadata: { kind: "thinking", model: "grok-4.5", costUsd: 0.0025, stopReason: "end_turn", usage: used },
        },
        { role: "assistant", content: "Let me look.", createdAt: at(3) },
        {
          role: "assistant",
          content: "run_terminal_command\nls",
          createdAt: at(4),
          metadata: { tool: { name: "run_terminal_command", callId: "c1", input: { command: "ls" }, content: "call" } },
        },
        { role: "tool", content: "a.ts", createdAt: at(5), metadata: { result: { callId: "c1" } } },
        { role: "assistant", content: "One file.", createdAt: at(7) },
      ],
      ending: {
        title: "A look around",
        model: "grok-4.5",
        project: "web",
        createdAt: at(0),
        metadata: { cwd: "/code/web", branch: "main", repository: "https://example.org/ada/web.git", usage: used },
      },
    },
  ]);
  expect([counts, unhandled]).toEqual([{ entries: 12, skipped: 6, invalid: 0 }, []]);
});

test("prompts, files, failures, compactions and what the program said are told apart; unknown updates are counted", async () => {
  const { sessions, unhandled, counts } = await parseAll(
    grok,
    await home([
      asked(1, "<user_query>\nFirst\n</user_query>", 0),
      update(1, "user_message_chunk", {
        content: { type: "resource_link", uri: "file:///code/web/a.ts", name: "a.ts" },
        _meta: { promptIndex: 0 },
      }),
      asked(2, "Second", 1),
      update(3, "agent_message_chunk", { ...text("Host says."), _meta: { hostTurn: true } }),
      update(4, "tool_call", {
        toolCallId: "c",
        title: "read",
        rawInput: { path: "a" },
        status: "failed",
        rawOutput: { e: 1 },
      }),
      own(5, "compaction_checkpoint", { checkpoint_id: "k" }),
      own(6, "rewind_marker", { target_prompt_index: 0 }),
      own(7, "hologram"),
      { timestamp: start + 8, method: "session/update", params: {} },
      { sessionId: id, update: { sessionUpdate: "agent_message_chunk", ...text("Of an old version.") } },
    ]),
  );
  expect(told(sessions[0]?.messages)).toEqual([
    ["user", "First", undefined],
    ["user", "Second", undefined],
    ["system", "Host says.", "notice"],
    ["assistant", "read\na", undefined],
    ["tool", '{"e":1}', { callId: "c", isError: true }],
    ["system", "The conversation so far was compacted.", "notice"],
    ["system", "The conversation went back to an earlier point.", "notice"],
    ["assistant", "Of an old version.", undefined],
  ]);
  expect(sessions[0]?.messages[0]?.metadata?.attachments).toEqual([{ type: "file", name: "a.ts" }]);
  expect([unhandled, counts.invalid]).toEqual([["hologram"], 1]);
});

test("a fork's copied lines are marked and not counted; a sub-agent names its parent", async () => {
  const more = [
    asked(61, "More", 1),
    update(62, "agent_message_chunk", text("Two.")),
    own(63, "turn_completed", { usage }),
  ];
  const about = { ...summary, parent_session_id: "first", session_kind: "fork", created_at: at(60), forked_at: at(60) };
  const [alone] = (await parseAll(grok, await home([...talk, ...more], about))).sessions;
  expect(alone?.messages.some(({ metadata }) => metadata?.replayed)).toBe(false);
  expect(alone?.ending.metadata).toMatchObject({ forkedFrom: "first", usage: { outputTokens: 80 } });
  const host = await home([...talk, ...more], about);
  await writeBelow(host.home, `${folder.replace(/[^/]+\/[^/]+$/, "other/first")}/updates.jsonl`, toLines(...talk));
  const sessions = (await parseAll(grok, host)).sessions.filter(({ sourceId }) => sourceId === id);
  expect(sessions[0]?.messages.map(({ content, metadata }) => [content, metadata?.replayed ?? false])).toEqual([
    ["What is in it?", true],
    ["I should list.", true],
    ["Let me look.", true],
    ["run_terminal_command\nls", true],
    ["a.ts", true],
    ["One file.", true],
    ["More", false],
    ["Two.", false],
  ]);
  expect(sessions[0]?.ending.metadata).toMatchObject({ forkedFrom: "first", usage: { outputTokens: 40 } });
  const agent = { ...summary, parent_session_id: "first", session_kind: "subagent" };
  expect((await parseAll(grok, await home(talk, agent))).sessions[0]?.ending.metadata).toMatchObject({
    parent: "first",
  });
});

test("where there is no log, the model's history is read, in either of its forms", async () => {
  const items = [
    { type: "system", content: "You are Grok" },
    { type: "user", content: [{ type: "text", text: "policy" }], synthetic_reason: "project_instructions" },
    {
      type: "user",
      content: [
        { type: "text", text: "Review" },
        { type: "image", url: "data:image/png;base64,AAAA" },
      ],
    },
    { type: "reasoning", id: "r", summary: [{ type: "summary_text", text: "Look at both." }] },
    { type: "backend_tool_call", kind: { tool_type: "web_search", action: { query: "grok" }, id: "w" } },
    {
      type: "assistant",
      content: "Reading.",
      tool_calls: [{ id: "c", name: "read_file", arguments: '{"path":"a"}' }],
      model_id: "grok-4.5",
    },
    { type: "tool_result", tool_call_id: "c", content: "body" },
    { type: "user", content: [{ type: "text", text: "Go on" }], synthetic_reason: "interjection" },
    { type: "hologram" },
  ];
  const older = [
    { role: "user", content: "Review" },
    {
      role: "assistant",
      content: "",
      reasoning_content: "Hm",
      tool_calls: [{ id: "c", function: { name: "ls", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "c", content: "a" },
  ];
  const other = folder.replace(id, "old");
  const host = await makeHome({
    [`${folder}/chat_history.jsonl`]: toLines(...items),
    [`${folder}/updates.jsonl`]: "",
    [`${other}/chat_history.jsonl`]: toLines(...older),
  });
  const { sessions, unhandled } = await parseAll(grok, host);
  expect(sessions.map(({ messages }) => told(messages))).toEqual([
    [
      ["user", "policy", "notice"],
      ["user", "Review", undefined],
      ["user", "[image: image/png, 1 KiB]", undefined],
      ["assistant", "Look at both.", "thinking"],
      ["assistant", "web_search\ngrok", undefined],
      ["assistant", "Reading.", undefined],
      ["assistant", "read_file\na", undefined],
      ["tool", "body", { callId: "c" }],
      ["user", "Go on", undefined],
    ],
    [
      ["user", "Review", undefined],
      ["assistant", "Hm", "thinking"],
      ["assistant", "ls", undefined],
      ["tool", "a", { callId: "c" }],
    ],
  ]);
  expect([sessions[0]?.ending.model, unhandled]).toEqual(["grok-4.5", ["hologram"]]);
  await writeBelow(host.home, `${folder}/updates.jsonl`, toLines(...talk));
  expect((await discoverAll(grok, host)).map(({ path }) => path.split("/").slice(-2).join("/"))).toEqual([
    `${id}/updates.jsonl`,
    "old/chat_history.jsonl",
  ]);
});
