import { type Any, type Line, many, none, type Sample, start } from "./sample.ts";

const message = (seconds: number, type: string, payload: Line) => ({
  timestamp: start / 1000 + seconds,
  message: { type, payload },
});

export const kimiCli: Sample = {
  path: ".kimi/sessions/0cc175b9c0f1b6a831c399e269772661/s1/wire.jsonl",
  others: { ".kimi/kimi.json": JSON.stringify({ work_dirs: [{ path: "a" }] }) },
  lines: [
    { type: "metadata", protocol_version: "1.3" },
    ...many((n) => [
      message(n * 60, "TurnBegin", { user_input: [{ type: "text", text: `Why ${n}?` }] }),
      message(n * 60 + 1, "StepBegin", { n: 1 }),
      message(n * 60 + 2, "ContentPart", { type: "think", think: `Look ${n}.`, encrypted: null }),
      message(n * 60 + 3, "ContentPart", { type: "text", text: `So ${n}.` }),
      message(n * 60 + 4, "ToolCall", {
        type: "function",
        id: `c${n}`,
        function: { name: "Shell", arguments: `{"command":"ls ${n}"}` },
      }),
      message(n * 60 + 5, "StatusUpdate", {
        message_id: `chatcmpl-kimi-${n}`,
        token_usage: { input_other: 40, output: 7, input_cache_read: 60, input_cache_creation: 0 },
      }),
      message(n * 60 + 6, "ToolResult", {
        tool_call_id: `c${n}`,
        return_value: { is_error: false, output: `file ${n}`, message: "", display: [] },
      }),
      message(n * 60 + 7, "TurnEnd", {}),
    ]),
  ],
  count(lines) {
    const counts = none();
    for (const { message: sent } of lines as Any[]) {
      const { type, payload } = sent ?? {};
      if (type === "TurnBegin") counts.questions++;
      if (payload?.type === "think") counts.thoughts++;
      if (payload?.type === "text") counts.answers++;
      if (type === "ToolCall") counts.calls++;
      if (type === "ToolResult") counts.results++;
      counts.input += payload?.token_usage?.input_other ?? 0;
      counts.output += payload?.token_usage?.output ?? 0;
      counts.cacheRead += payload?.token_usage?.input_cache_read ?? 0;
    }
    return counts;
  },
};
