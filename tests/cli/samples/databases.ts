// Homes of the agents that keep their sessions in a database.
import type { Home, Row } from "./home.ts";
import { type Any, at, type Counts, countBlocks, id, many, none, start } from "./sample.ts";

const model = "claude-opus-4-5";
const seconds = start / 1000;

const crushParts = many((n) => [
  { role: "user", parts: [{ type: "text", data: { text: `Why ${n}?` } }] },
  {
    role: "assistant",
    parts: [
      { type: "reasoning", data: { thinking: `Look ${n}.` } },
      { type: "text", data: { text: `So ${n}.` } },
      { type: "tool_call", data: { id: `c${n}`, name: "bash", input: `{"command":"ls ${n}"}`, finished: true } },
      { type: "finish", data: { reason: "tool_use" } },
    ],
  },
  {
    role: "tool",
    parts: [{ type: "tool_result", data: { tool_call_id: `c${n}`, name: "bash", content: `file ${n}` } }],
  },
]);

export const crush: Home = {
  files: { ".local/share/crush/projects.json": '{"projects":[{"path":"$HOME/api","data_dir":"$HOME/api/.crush"}]}' },
  databases: {
    "api/.crush/crush.db": {
      sessions: [{ id, parent_session_id: null, title: "Listing", updated_at: seconds, created_at: seconds }],
      messages: crushParts.map(({ role, parts }, index) => ({
        id: `m${index}`,
        session_id: id,
        role: String(role),
        parts: JSON.stringify(parts),
        model,
        created_at: seconds + index,
        updated_at: seconds + index,
        is_summary_message: 0,
      })),
    },
  },
  count() {
    const counts = none();
    for (const { role, parts } of crushParts as Any[])
      countBlocks(
        counts,
        role,
        parts.filter(({ type }: Any) => type !== "finish"),
      );
    return counts;
  },
};

const gooseTalk = many((n) => [
  { role: "user", content: [{ type: "text", text: `Why ${n}?` }] },
  {
    role: "assistant",
    content: [
      { type: "thinking", thinking: `Look ${n}.`, signature: "" },
      { type: "text", text: `So ${n}.` },
      {
        type: "toolRequest",
        id: `c${n}`,
        toolCall: { status: "success", value: { name: "developer__shell", arguments: { command: `ls ${n}` } } },
      },
    ],
  },
  {
    role: "user",
    content: [
      {
        type: "toolResponse",
        id: `c${n}`,
        toolResult: { status: "success", value: [{ type: "text", text: `file ${n}` }] },
      },
    ],
  },
]);
const gooseCounts = (): Counts => {
  const counts = none();
  for (const { role, content } of gooseTalk as Any[]) countBlocks(counts, role, content);
  return counts;
};
const gooseLedger: Row[] = many((n) => [
  {
    id: n,
    session_id: id,
    created_timestamp: seconds + 3 * n + 1,
    model,
    input_tokens: 100,
    output_tokens: 7,
    cache_read_tokens: 60,
    cache_write_tokens: 0,
    cost: 0.25,
    cost_source: "provider_reported",
  },
]) as Row[];

export const goose: Home = {
  databases: {
    ".local/share/goose/sessions/sessions.db": {
      sessions: [
        {
          id,
          name: "Listing",
          description: "",
          session_type: "user",
          working_dir: "/code/api",
          created_at: "2026-11-01 10:00:00",
          updated_at: "2026-11-01 10:00:00",
          accumulated_input_tokens: 400,
          accumulated_output_tokens: 28,
          model_config_json: JSON.stringify({ model_name: model }),
          parent_session_id: null,
        },
      ],
      messages: gooseTalk.map(({ role, content }, index) => ({
        id: index,
        session_id: id,
        role: String(role),
        content_json: JSON.stringify(content),
        created_timestamp: seconds + index,
        metadata_json: "{}",
      })),
      usage_ledger: gooseLedger,
    },
  },
  count() {
    const counts = gooseCounts();
    for (const row of gooseLedger as Any[]) {
      counts.input += row.input_tokens - row.cache_read_tokens;
      counts.output += row.output_tokens;
      counts.cacheRead += row.cache_read_tokens;
    }
    return counts;
  },
};

const gooseHead = { working_dir: "/code/api", accumulated_input_tokens: 160, accumulated_output_tokens: 28 };
/** Goose before 1.10. */
export const olderGoose: Home = {
  files: {
    ".local/share/goose/sessions/20250301_1.jsonl": [
      gooseHead,
      ...gooseTalk.map((one) => ({ ...one, created: seconds })),
    ]
      .map((one) => `${JSON.stringify(one)}\n`)
      .join(""),
  },
  count: () => ({
    ...gooseCounts(),
    input: gooseHead.accumulated_input_tokens,
    output: gooseHead.accumulated_output_tokens,
  }),
};

const hermesRow = (turn: number, second: number, role: string, content: string, more: Row = {}): Row => ({
  session_id: id,
  role,
  content,
  tool_call_id: null,
  tool_calls: null,
  timestamp: seconds + turn * 60 + second,
  finish_reason: null,
  reasoning: null,
  reasoning_content: null,
  _compressed_summary: 0,
  active: 1,
  compacted: 0,
  display_kind: null,
  ...more,
});
const hermesRows: Row[] = many((n) => [
  hermesRow(n, 0, "user", `Why ${n}?`),
  hermesRow(n, 1, "assistant", `So ${n}.`, {
    reasoning: `Look ${n}.`,
    tool_calls: JSON.stringify([{ id: `c${n}`, function: { name: "terminal", arguments: `{"command":"ls ${n}"}` } }]),
  }),
  hermesRow(n, 2, "tool", `{"output":"file ${n}","exit_code":0}`, { tool_call_id: `c${n}` }),
]) as Row[];
const hermesUse = { input_tokens: 160, output_tokens: 28, cache_read_tokens: 240, cache_write_tokens: 0 };

export const hermes: Home = {
  databases: {
    ".hermes/state.db": {
      sessions: [
        {
          id,
          source: "cli",
          session_key: null,
          model,
          model_config: null,
          parent_session_id: null,
          started_at: seconds,
          ended_at: null,
          end_reason: null,
          ...hermesUse,
          reasoning_tokens: 0,
          cwd: "/code/api",
          git_branch: "main",
          title: "Listing",
          title_source: "llm",
        },
      ],
      messages: hermesRows.map((row, index) => ({ id: index, ...row })),
    },
  },
  count() {
    const is = (role: string) => hermesRows.filter((row) => row.role === role).length;
    const has = (column: string) => hermesRows.filter((row) => row[column] !== null).length;
    return {
      questions: is("user"),
      answers: is("assistant"),
      thoughts: has("reasoning"),
      calls: has("tool_calls"),
      results: has("tool_call_id"),
      input: hermesUse.input_tokens,
      output: hermesUse.output_tokens,
      cacheRead: hermesUse.cache_read_tokens,
    };
  },
};

const zedMessages = many((n) => [
  { User: { id: `u${n}`, content: [{ Text: `Why ${n}?` }] } },
  {
    Agent: {
      content: [
        { Thinking: { text: `Look ${n}.`, signature: "" } },
        { Text: `So ${n}.` },
        { ToolUse: { id: `c${n}`, name: "terminal", raw_input: "{}", input: { command: `ls ${n}` } } },
      ],
      tool_results: {
        [`c${n}`]: { tool_use_id: `c${n}`, tool_name: "terminal", is_error: false, content: [{ Text: "a" }] },
      },
    },
  },
]);
const zedUse = { input_tokens: 160, output_tokens: 28, cache_read_input_tokens: 240, cache_creation_input_tokens: 0 };

export const zed: Home = {
  databases: {
    ".local/share/zed/threads/threads.db": {
      threads: [
        {
          id,
          summary: "Listing",
          updated_at: at(0),
          data_type: "json",
          data: JSON.stringify({
            version: "0.3.0",
            title: "Listing",
            messages: zedMessages,
            model: { provider: "anthropic", model },
            request_token_usage: {},
            cumulative_token_usage: zedUse,
          }),
          parent_id: null,
          folder_paths: "/code/api",
          folder_paths_order: "0",
          created_at: at(0),
        },
      ],
    },
  },
  count() {
    const counts = none();
    for (const { User, Agent } of zedMessages as Any[]) {
      if (User) counts.questions++;
      for (const part of Agent?.content ?? []) {
        if (part.Text) counts.answers++;
        if (part.Thinking) counts.thoughts++;
        if (part.ToolUse) counts.calls++;
      }
      counts.results += Object.keys(Agent?.tool_results ?? {}).length;
    }
    return {
      ...counts,
      input: zedUse.input_tokens,
      output: zedUse.output_tokens,
      cacheRead: zedUse.cache_read_input_tokens,
    };
  },
};
