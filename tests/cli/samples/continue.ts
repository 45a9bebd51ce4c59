import { type Any, many, none, type Sample, start } from "./sample.ts";

const call = (id: string, input: string) => ({ id, type: "function", function: { name: "ls", arguments: input } });

export const continueDev: Sample = {
  path: ".continue/sessions/s.json",
  document: (items) => `{"sessionId":"s","title":"Listing","history":[${items.join(",")}]}`,
  lines: many((n) => [
    { message: { role: "user", content: [{ type: "text", text: `Why ${n}?` }] }, contextItems: [] },
    {
      message: {
        role: "assistant",
        content: `So ${n}.`,
        toolCalls: [call(`c${n}`, `{"dirPath":"${n}"}`), call(`d${n}`, "{}"), call(`e${n}`, "{}")],
        usage: { promptTokens: 110, completionTokens: 5, promptTokensDetails: { cachedTokens: 100 } },
      },
      reasoning: { text: `Look ${n}.`, startAt: start + n * 60_000 },
      toolCallStates: [
        { toolCallId: `c${n}`, toolCall: call(`c${n}`, "{}"), status: "done", output: [{ content: `file ${n}` }] },
        { toolCallId: `d${n}`, toolCall: call(`d${n}`, "{}"), status: "canceled" },
      ],
    },
    // What the editor answered once more, and what only this line answers.
    { message: { role: "tool", content: `file ${n}`, toolCallId: `c${n}` } },
    { message: { role: "tool", content: `more ${n}`, toolCallId: `e${n}` } },
    { message: { role: "thinking", content: `Then ${n}.` } },
    { message: { role: "assistant", content: `Done ${n}.` } },
  ]),
  count(lines) {
    const counts = none();
    const answered = new Set<string>();
    for (const { message, reasoning, toolCallStates } of lines as Any[]) {
      if (message.role === "user") counts.questions++;
      if (message.role === "assistant") counts.answers++;
      if (message.role === "thinking") counts.thoughts++;
      if (message.role === "tool") answered.add(message.toolCallId);
      if (reasoning) counts.thoughts++;
      counts.calls += message.toolCalls?.length ?? 0;
      for (const { toolCallId } of toolCallStates ?? []) answered.add(toolCallId);
      if (!message.usage) continue;
      const cached = message.usage.promptTokensDetails.cachedTokens;
      counts.input += message.usage.promptTokens - cached;
      counts.output += message.usage.completionTokens;
      counts.cacheRead += cached;
    }
    return { ...counts, results: answered.size };
  },
};
