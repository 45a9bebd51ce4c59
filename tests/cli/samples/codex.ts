import { type Any, at, id, many, none, type Sample } from "./sample.ts";

export const codex: Sample = {
  path: `.codex/sessions/2026/11/01/rollout-2026-11-01T10-00-00-${id}.jsonl`,
  lines: [
    {
      timestamp: at(0),
      type: "session_meta",
      payload: { id, cwd: "/code/api", git: { branch: "main", commit_hash: "abc1234" } },
    },
    ...many((n) => [
      {
        timestamp: at(n * 60),
        type: "turn_context",
        payload: { turn_id: `t${n}`, model: "gpt-5.5", cwd: "/code/api" },
      },
      {
        timestamp: at(n * 60),
        type: "response_item",
        payload: { type: "message", role: "user", content: [{ type: "input_text", text: `Why ${n}?` }] },
      },
      { timestamp: at(n * 60 + 1), type: "event_msg", payload: { type: "user_message", message: `Why ${n}?` } },
      {
        timestamp: at(n * 60 + 2),
        type: "response_item",
        payload: { type: "reasoning", summary: [{ type: "summary_text", text: `Look ${n}.` }] },
      },
      {
        timestamp: at(n * 60 + 3),
        type: "response_item",
        payload: { type: "function_call", name: "exec_command", call_id: `c${n}`, arguments: `{"cmd":"ls ${n}"}` },
      },
      {
        timestamp: at(n * 60 + 4),
        type: "response_item",
        payload: { type: "function_call_output", call_id: `c${n}`, output: `file ${n}` },
      },
      {
        timestamp: at(n * 60 + 5),
        type: "response_item",
        payload: { type: "message", role: "assistant", content: [{ type: "output_text", text: `So ${n}.` }] },
      },
      {
        timestamp: at(n * 60 + 6),
        type: "event_msg",
        payload: {
          type: "token_count",
          info: {
            total_token_usage: {
              input_tokens: 100 * (n + 1),
              cached_input_tokens: 60 * (n + 1),
              output_tokens: 7 * (n + 1),
            },
          },
        },
      },
      { timestamp: at(n * 60 + 7), type: "event_msg", payload: { type: "task_complete" } },
    ]),
  ],
  count(lines) {
    const counts = none();
    for (const { payload } of lines as Any[]) {
      if (payload.role === "user") counts.questions++;
      if (payload.role === "assistant") counts.answers++;
      if (payload.type === "reasoning") counts.thoughts++;
      if (payload.type === "function_call") counts.calls++;
      if (payload.type === "function_call_output") counts.results++;
      if (payload.type !== "token_count") continue;
      const total = payload.info.total_token_usage;
      counts.input = total.input_tokens - total.cached_input_tokens;
      counts.output = total.output_tokens;
      counts.cacheRead = total.cached_input_tokens;
    }
    return counts;
  },
};

/** Trae's CLI writes Codex's lines, in a folder of its own. */
export const trae: Sample = { ...codex, path: codex.path.replace(".codex", ".trae/cli") };
