import { type Any, at, many, none, type Sample, start } from "./sample.ts";

const usage = (model: string) => ({
  model,
  inputTokens: 10,
  outputTokens: 5,
  cacheCreationInputTokens: 7,
  cacheReadInputTokens: 100,
});

export const amp: Sample = {
  path: ".local/share/amp/threads/T-1.json",
  document: (items) => `{"v":3,"id":"T-1","created":${start},"messages":[${items.join(",")}],"title":"Listing"}`,
  lines: many((n) => [
    { role: "user", content: [{ type: "text", text: `Why ${n}?` }], meta: { sentAt: start + n * 60_000 } },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: `Look ${n}.` },
        { type: "text", text: `So ${n}.` },
        { type: "tool_use", id: `c${n}`, name: "Bash", input: { cmd: `ls ${n}` } },
        { type: "tool_use", id: `d${n}`, name: "Task", input: {} },
      ],
      usage: { ...usage("claude-opus-4-5"), timestamp: at(n * 60 + 1) },
    },
    {
      role: "user",
      content: [
        { type: "tool_result", toolUseID: `c${n}`, run: { status: "done", result: { output: `file ${n}` } } },
        { type: "tool_result", toolUseID: `d${n}`, run: { status: "in-progress" } },
      ],
      meta: { sentAt: start + n * 60_000 + 2000 },
    },
    {
      role: "assistant",
      content: [{ type: "text", text: `Done ${n}.` }],
      usage: { ...usage("gpt-5.2"), timestamp: at(n * 60 + 3) },
    },
  ]),
  count(lines) {
    const counts = none();
    for (const { role, content, usage: used } of lines as Any[]) {
      for (const { type, run } of content) {
        if (type === "thinking") counts.thoughts++;
        if (type === "tool_use") counts.calls++;
        if (type === "tool_result" && run.status !== "in-progress") counts.results++;
        if (type === "text" && role === "user") counts.questions++;
        if (type === "text" && role === "assistant") counts.answers++;
      }
      counts.input += used?.inputTokens ?? 0;
      counts.output += used?.outputTokens ?? 0;
      counts.cacheRead += used?.cacheReadInputTokens ?? 0;
    }
    return counts;
  },
};
