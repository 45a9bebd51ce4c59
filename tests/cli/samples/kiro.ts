// Homes of Kiro in each of its forms, and of Amazon Q, which writes the first.
import { createHash } from "node:crypto";
import type { Home } from "./home.ts";
import { type Any, at, type Counts, id, type Line, many, none, start } from "./sample.ts";

const lines = (all: unknown[]) => all.map((one) => `${JSON.stringify(one)}\n`).join("");

const history = many((n) => [
  {
    user: { content: { Prompt: { prompt: `Why ${n}?` } }, timestamp: at(n * 60) },
    assistant: {
      ToolUse: {
        message_id: `m${n}`,
        content: `So ${n}.`,
        tool_uses: [{ id: `c${n}`, name: "execute_bash", args: { command: `ls ${n}` } }],
      },
    },
  },
  {
    user: {
      content: { ToolUseResults: { tool_use_results: [{ tool_use_id: `c${n}`, content: [{ Text: `file ${n}` }] }] } },
    },
    assistant: { Response: { message_id: `r${n}`, content: `Done ${n}.`, thinking: { text: `Look ${n}.` } } },
  },
]);
const countHistory = (): Counts => {
  const counts = none();
  for (const { user, assistant } of history as Any[]) {
    if (user.content.Prompt) counts.questions++;
    counts.results += user.content.ToolUseResults?.tool_use_results.length ?? 0;
    const answer = assistant.ToolUse ?? assistant.Response;
    if (answer.content) counts.answers++;
    if (answer.thinking) counts.thoughts++;
    counts.calls += answer.tool_uses?.length ?? 0;
  }
  return counts;
};
const value = JSON.stringify({ conversation_id: id, history });

export const kiro: Home = {
  databases: {
    ".local/share/kiro-cli/data.sqlite3": {
      conversations_v2: [{ key: "/code/api", conversation_id: id, value, created_at: start, updated_at: start }],
    },
  },
  count: countHistory,
};
export const amazonQ: Home = {
  databases: { ".local/share/amazon-q/data.sqlite3": { conversations: [{ key: "/code/api", value }] } },
  count: countHistory,
};

const entry = (kind: string, data: Line) => ({ version: "v1", kind, data });
const log = many((n) => [
  entry("Prompt", { content: [{ kind: "text", data: `Why ${n}?` }], meta: { timestamp: start / 1000 + n * 60 } }),
  entry("AssistantMessage", {
    content: [
      { kind: "thinking", data: { text: `Look ${n}.` } },
      { kind: "text", data: `So ${n}.` },
      { kind: "toolUse", data: { toolUseId: `c${n}`, name: "shell", input: { command: `ls ${n}` } } },
    ],
  }),
  entry("ToolResults", {
    content: [{ kind: "toolResult", data: { toolUseId: `c${n}`, content: [{ kind: "text", data: `file ${n}` }] } }],
  }),
]);
const turn = { input_token_count: 40, output_token_count: 7, cache_read_input_token_count: 60 };
const turns = many(() => [turn]);

export const kiroLog: Home = {
  files: {
    [`.kiro/sessions/cli/${id}.jsonl`]: lines(log),
    [`.kiro/sessions/cli/${id}.json`]: JSON.stringify({
      session_id: id,
      cwd: "/code/api",
      title: "Listing",
      session_state: { conversation_metadata: { user_turn_metadatas: turns } },
    }),
  },
  count() {
    const counts = none();
    for (const { kind, data } of log as Any[]) {
      for (const part of data.content) {
        if (part.kind === "text") counts[kind === "Prompt" ? "questions" : "answers"]++;
        if (part.kind === "thinking") counts.thoughts++;
        if (part.kind === "toolUse") counts.calls++;
        if (part.kind === "toolResult") counts.results++;
      }
    }
    for (const one of turns as (typeof turn)[]) {
      counts.input += one.input_token_count;
      counts.output += one.output_token_count;
      counts.cacheRead += one.cache_read_input_token_count;
    }
    return counts;
  },
};

const events = many((n) =>
  [
    { type: "user", content: `Why ${n}?` },
    { type: "assistant", operationType: "Reasoning", content: `Look ${n}.` },
    { type: "assistant", operationType: "Say", content: `So ${n}.` },
    { type: "tool_call", toolCallId: `c${n}`, toolName: "shell", args: { command: `ls ${n}` } },
    { type: "tool_result", toolCallId: `c${n}`, success: true, content: `file ${n}` },
  ].map((payload, second) => ({ id: `e${n}.${second}`, timestamp: at(n * 60 + second), payload })),
);

export const kiroEvents: Home = {
  files: {
    ".kiro/sessions/0a1b/sess_1/messages.jsonl": lines(events),
    ".kiro/sessions/0a1b/sess_1/session.json": JSON.stringify({ title: "Listing", workspacePaths: ["/code/api"] }),
  },
  count() {
    const counts = none();
    for (const { payload } of events as Any[]) {
      if (payload.type === "user") counts.questions++;
      if (payload.operationType === "Say") counts.answers++;
      if (payload.operationType === "Reasoning") counts.thoughts++;
      if (payload.type === "tool_call") counts.calls++;
      if (payload.type === "tool_result") counts.results++;
    }
    return counts;
  },
};

const editor = ".config/Kiro/User/globalStorage/kiro.kiroagent";
const project = createHash("sha256").update("/code/api").digest("hex").slice(0, 32);
const executions = many((n) => [
  {
    executionId: `x${n}`,
    actions: [
      {
        actionId: `a${n}`,
        actionType: "runCommand",
        input: { command: `ls ${n}` },
        output: { output: "a", exitCode: 0 },
      },
      { actionId: `b${n}`, actionType: "say", output: { message: `So ${n}.` }, emittedAt: start },
    ],
  },
]);

export const kiroEditor: Home = {
  files: {
    [`${editor}/workspace-sessions/L2NvZGU/${id}.json`]: JSON.stringify({
      sessionId: id,
      title: "Listing",
      workspaceDirectory: "/code/api",
      history: many((n) => [
        { message: { role: "user", content: [{ type: "text", text: `Why ${n}?` }] } },
        { message: { role: "assistant", content: "On it." }, executionId: `x${n}` },
      ]),
    }),
    ...Object.fromEntries(
      executions.map((one) => [`${editor}/${project}/414d/log-${one.executionId}`, JSON.stringify(one)]),
    ),
  },
  count() {
    const counts = none();
    for (const { actions } of executions as Any[]) {
      counts.questions++;
      for (const { actionType } of actions) {
        if (actionType === "say") counts.answers++;
        else {
          counts.calls++;
          counts.results++;
        }
      }
    }
    return counts;
  },
};
