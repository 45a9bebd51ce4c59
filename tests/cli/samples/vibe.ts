import { type Any, at, many, none, type Sample } from "./sample.ts";

const folder = ".vibe/logs/session/session_1";
const stats = { session_prompt_tokens: 240, session_completion_tokens: 28 };

export const vibe: Sample = {
  path: `${folder}/messages.jsonl`,
  others: { [`${folder}/meta.json`]: JSON.stringify({ session_id: "v1", start_time: at(0), stats }) },
  lines: [
    { role: "system", content: "You are an agent." },
    ...many((n) => [
      { role: "user", content: `Why ${n}?` },
      { role: "user", content: "Remember the plan.", injected: true },
      {
        role: "assistant",
        content: [{ type: "text", text: `So ${n}.` }],
        reasoning_content: `Look ${n}.`,
        tool_calls: [{ id: `c${n}`, function: { name: "bash", arguments: `{"command":"ls ${n}"}` } }],
      },
      { role: "tool", content: `file ${n}`, name: "bash", tool_call_id: `c${n}` },
      { role: "assistant", content: `Done ${n}.` },
    ]),
  ],
  count(lines) {
    const counts = { ...none(), input: stats.session_prompt_tokens, output: stats.session_completion_tokens };
    for (const { role, injected, reasoning_content, tool_calls } of lines as Any[]) {
      if (role === "user" && !injected) counts.questions++;
      if (role === "assistant") counts.answers++;
      if (role === "tool") counts.results++;
      if (reasoning_content) counts.thoughts++;
      counts.calls += tool_calls?.length ?? 0;
    }
    return counts;
  },
};
