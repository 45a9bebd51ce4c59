import { type Any, id, type Line, many, none, type Sample, start } from "./sample.ts";

const update = (seconds: number, sessionUpdate: string, more: Line) => ({
  timestamp: start / 1000 + seconds,
  method: "session/update",
  params: { sessionId: id, update: { sessionUpdate, ...more } },
});
const text = (value: string) => ({ content: { type: "text", text: value } });

export const grok: Sample = {
  path: `.grok/sessions/%2Fcode%2Fapi/${id}/updates.jsonl`,
  others: { [`.grok/sessions/%2Fcode%2Fapi/${id}/summary.json`]: '{"info":{"cwd":"/code/api"}}' },
  lines: many((n) => [
    update(n * 60, "user_message_chunk", { ...text(`Why ${n}?`), _meta: { promptIndex: n } }),
    update(n * 60 + 1, "agent_thought_chunk", text(`Look ${n}.`)),
    update(n * 60 + 2, "agent_message_chunk", text(`So ${n}`)),
    update(n * 60 + 2, "agent_message_chunk", text(".")),
    update(n * 60 + 3, "tool_call", { toolCallId: `c${n}`, title: "shell", rawInput: { command: `ls ${n}` } }),
    update(n * 60 + 4, "tool_call_update", { toolCallId: `c${n}`, status: "completed", rawOutput: `file ${n}` }),
    update(n * 60 + 5, "turn_completed", {
      prompt_id: `p${n}`,
      stop_reason: "end_turn",
      usage: { inputTokens: 100, cachedReadTokens: 60, outputTokens: 7 },
    }),
  ]),
  count(lines) {
    const counts = none();
    let before = "";
    for (const { params } of lines as Any[]) {
      const { sessionUpdate: type, status, usage } = params.update;
      const isNew = type !== before;
      before = type;
      if (type === "user_message_chunk" && isNew) counts.questions++;
      if (type === "agent_thought_chunk" && isNew) counts.thoughts++;
      if (type === "agent_message_chunk" && isNew) counts.answers++;
      if (type === "tool_call") counts.calls++;
      if (status === "completed") counts.results++;
      counts.input += usage ? usage.inputTokens - usage.cachedReadTokens : 0;
      counts.output += usage?.outputTokens ?? 0;
      counts.cacheRead += usage?.cachedReadTokens ?? 0;
    }
    return counts;
  },
};
