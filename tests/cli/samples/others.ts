// Homes of agents that keep a session in several files, or in a text.
import type { Home } from "./home.ts";
import { type Any, at, id, type Line, many, none, start } from "./sample.ts";

const lines = (all: unknown[]) => all.map((one) => `${JSON.stringify(one)}\n`).join("");

const conversation = `.openhands/conversations/${id.replaceAll("-", "")}`;
const local = (seconds: number) => at(seconds).replace("Z", "");
const text = (value: string) => ({ type: "text", text: value });
const events = many((n) => [
  { kind: "MessageEvent", source: "user", llm_message: { role: "user", content: [text(`Why ${n}?`)] } },
  {
    kind: "ActionEvent",
    thought: [text(`So ${n}.`)],
    reasoning_content: `Look ${n}.`,
    tool_name: "terminal",
    tool_call_id: `c${n}`,
    tool_call: { id: `c${n}`, name: "terminal", arguments: `{"command":"ls ${n}"}` },
    llm_response_id: `r${n}`,
  },
  {
    kind: "ObservationEvent",
    tool_call_id: `c${n}`,
    observation: { kind: "TerminalObservation", content: [text(`file ${n}`)], exit_code: 0 },
  },
]).map((event, index) => ({ id: `e${index}`, timestamp: local(index), ...event }) as Line);
const responses = many((n) => [
  { model: "m", prompt_tokens: 100, completion_tokens: 7, cache_read_tokens: 60, response_id: `r${n}` },
]);

export const openhands: Home = {
  files: {
    ...Object.fromEntries(
      events.map((event, index) => [
        `${conversation}/events/event-${String(index).padStart(5, "0")}-aaaa.json`,
        JSON.stringify(event),
      ]),
    ),
    [`${conversation}/base_state.json`]: JSON.stringify({
      workspace: { kind: "LocalWorkspace", working_dir: "/code/api" },
      stats: { usage_to_metrics: { agent: { token_usages: responses, costs: [] } } },
    }),
  },
  count() {
    const counts = none();
    for (const { kind, thought, reasoning_content, tool_call } of events as Any[]) {
      if (kind === "MessageEvent") counts.questions++;
      if (kind === "ObservationEvent") counts.results++;
      if (thought) counts.answers++;
      if (reasoning_content) counts.thoughts++;
      if (tool_call) counts.calls++;
    }
    for (const used of responses as Any[]) {
      counts.input += used.prompt_tokens - used.cache_read_tokens;
      counts.output += used.completion_tokens;
      counts.cacheRead += used.cache_read_tokens;
    }
    return counts;
  },
};

const steps = many((n) => [
  { type: "USER_INPUT", source: "USER_EXPLICIT", content: `<USER_REQUEST>\nWhy ${n}?\n</USER_REQUEST>` },
  {
    type: "PLANNER_RESPONSE",
    source: "MODEL",
    thinking: `Look ${n}.`,
    content: `So ${n}.`,
    tool_calls: [{ name: "list_dir", args: { DirectoryPath: `/${n}` } }],
  },
  { type: "LIST_DIRECTORY", source: "MODEL", content: `file ${n}` },
]).map((step, index) => ({ step_index: index, status: "DONE", created_at: at(index), ...step }) as Line);

export const antigravity: Home = {
  files: {
    [`.gemini/antigravity-cli/brain/${id}/.system_generated/logs/transcript_full.jsonl`]: lines(steps),
    ".gemini/antigravity-cli/history.jsonl": lines([{ conversationId: id, workspace: "/code/api" }]),
  },
  count() {
    const counts = none();
    for (const { type, thinking, content, tool_calls } of steps as Any[]) {
      if (type === "USER_INPUT") counts.questions++;
      if (type === "LIST_DIRECTORY") counts.results++;
      if (type !== "PLANNER_RESPONSE") continue;
      if (thinking) counts.thoughts++;
      if (content) counts.answers++;
      counts.calls += tool_calls.length;
    }
    return counts;
  },
};

const recorded = many((n) => [
  { id: `u${n}`, timestamp: at(n * 60), type: "user", content: `Why ${n}?` },
  {
    id: `a${n}`,
    timestamp: at(n * 60 + 1),
    type: "gemini",
    model: "gemini-3-pro",
    content: `So ${n}.`,
    thoughts: [{ subject: "Look", description: `${n}`, timestamp: at(n * 60 + 1) }],
    tokens: { input: 100, cached: 60, output: 7, thoughts: 2, tool: 0, total: 109 },
    toolCalls: [
      {
        id: `c${n}`,
        name: "run_shell_command",
        args: { command: `ls ${n}` },
        status: "success",
        result: [{ functionResponse: { id: `c${n}`, response: { output: `file ${n}` } } }],
      },
    ],
  },
]);

/** Gemini CLI before its logs were lines. */
export const olderGemini: Home = {
  files: {
    ".gemini/tmp/api/chats/session-2026-11-01T10-00-aaaa1111.json": JSON.stringify({
      sessionId: id,
      projectHash: "x",
      startTime: at(0),
      messages: recorded,
    }),
  },
  count() {
    const counts = none();
    for (const { type, thoughts = [], toolCalls = [], tokens } of recorded as Any[]) {
      counts[type === "user" ? "questions" : "answers"]++;
      counts.thoughts += thoughts.length;
      counts.calls += toolCalls.length;
      counts.results += toolCalls.length;
      counts.input += tokens ? tokens.input - tokens.cached : 0;
      counts.output += tokens ? tokens.output + tokens.thoughts : 0;
      counts.cacheRead += tokens?.cached ?? 0;
    }
    return counts;
  },
};

const chat = `
# aider chat started at 2026-11-01 10:00:00

${many((n) => [{ n }])
  .map(({ n }) => `\n#### Why ${n}?  \n\nSo ${n}.\n\n> Tokens: 2k sent, 150 received.  \n`)
  .join("")}`;

export const aider: Home = {
  files: { ".aider.chat.history.md": chat },
  count() {
    const count = (words: RegExp) => chat.match(words)?.length ?? 0;
    return { ...none(), questions: count(/^#### .* {2}$/gm), answers: count(/^So /gm) };
  },
};

const history = `<!-- Claude Code Session ${id} (2026-11-01 10:00:00Z) -->\n\n# Listing\n\n${many((n) => [{ n }])
  .map(
    ({ n }) =>
      `_**User (2026-11-01 10:0${n}:00Z)**_\n\nWhy ${n}?\n\n---\n\n_**Agent (m 2026-11-01 10:0${n}:10Z)**_\n\nSo ${n}.\n\n---\n\n`,
  )
  .join("")}`;

export const specstory: Home = {
  files: { ".specstory/history/2026-11-01_10-00-00Z-listing.md": history },
  count() {
    const count = (words: RegExp) => history.match(words)?.length ?? 0;
    return { ...none(), questions: count(/^_\*\*User/gm), answers: count(/^_\*\*Agent/gm) };
  },
};

const traces = many((n) => [
  {
    source: "own",
    sourceId: `s${n}`,
    title: "Listing",
    createdAt: at(n),
    messages: [
      { role: "user", content: `Why ${n}?` },
      { role: "assistant", content: `Look ${n}.`, metadata: { kind: "thinking" } },
      { role: "assistant", content: `So ${n}.` },
      { role: "assistant", content: "ls", metadata: { tool: { name: "shell", callId: "c" } } },
      { role: "tool", content: "a", metadata: { result: { callId: "c" } } },
    ],
    metadata: { usage: { inputTokens: 40, outputTokens: 7, cacheReadTokens: 60 } },
  },
]);

/** Sessions of any source in Spoor's own form. */
export const jsonl: Home = {
  files: { ".local/share/spoor/jsonl/own.jsonl": lines(traces) },
  count() {
    const counts = none();
    for (const { messages, metadata } of traces as Any[]) {
      for (const { role, metadata: more = {} } of messages) {
        if (role === "user") counts.questions++;
        else if (role === "tool") counts.results++;
        else if (more.kind) counts.thoughts++;
        else if (more.tool) counts.calls++;
        else counts.answers++;
      }
      counts.input += metadata.usage.inputTokens;
      counts.output += metadata.usage.outputTokens;
      counts.cacheRead += metadata.usage.cacheReadTokens;
    }
    return counts;
  },
};

const traeTalk = many((n) => [
  { role: "user", content: `Why ${n}?`, timestamp: start + n * 60_000 },
  { role: "assistant", content: `So ${n}.`, timestamp: start + n * 60_000 + 1000 },
]);

export const traeEditor: Home = {
  databases: {
    ".config/Trae/User/globalStorage/state.vscdb": {
      ItemTable: [
        {
          key: "memento/icube-ai-agent-storage",
          value: JSON.stringify({ list: [{ sessionId: id, createdAt: start, model: "m", messages: traeTalk }] }),
        },
      ],
    },
  },
  count() {
    const counts = none();
    for (const { role } of traeTalk) counts[role === "user" ? "questions" : "answers"]++;
    return counts;
  },
};
