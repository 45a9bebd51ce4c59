import { type Any, type Line, many, none, type Sample, start } from "./sample.ts";

const kimiFolder = ".kimi-code/sessions/wd_api/session_1";
const event = (seconds: number, fields: Line) => ({
  type: "context.append_loop_event",
  event: fields,
  time: start + seconds * 1000,
});
export const kimi: Sample = {
  path: `${kimiFolder}/agents/main/wire.jsonl`,
  others: { [`${kimiFolder}/state.json`]: JSON.stringify({ title: "Listing", workDir: "/code/api" }) },
  lines: [
    { type: "metadata", protocol_version: "1.4", created_at: start },
    ...many((n) => [
      { type: "turn.prompt", input: [{ type: "text", text: `Why ${n}?` }], time: start + n * 60_000 },
      {
        type: "context.append_message",
        message: { role: "user", content: [{ type: "text", text: `Why ${n}?` }], origin: { kind: "user" } },
        time: start + n * 60_000,
      },
      { type: "llm.request", model: "kimi-k2.7-code", time: start + n * 60_000 },
      event(n * 60 + 1, { type: "content.part", part: { type: "think", think: `Look ${n}.` } }),
      event(n * 60 + 2, { type: "content.part", part: { type: "text", text: `So ${n}.` } }),
      event(n * 60 + 3, { type: "tool.call", toolCallId: `c${n}`, name: "Bash", args: { command: `ls ${n}` } }),
      event(n * 60 + 4, {
        type: "step.end",
        finishReason: "tool_use",
        messageId: `m${n}`,
        usage: { inputOther: 40, output: 7, inputCacheRead: 60, inputCacheCreation: 0 },
      }),
      {
        type: "usage.record",
        usageScope: "turn",
        usage: { inputOther: 40, output: 7, inputCacheRead: 60, inputCacheCreation: 0 },
        time: start + n * 60_000,
      },
      event(n * 60 + 5, { type: "tool.result", toolCallId: `c${n}`, result: { output: `file ${n}` } }),
    ]),
    // The request of a compaction.
    {
      type: "usage.record",
      usageScope: "session",
      usage: { inputOther: 9, output: 3, inputCacheRead: 1, inputCacheCreation: 0 },
      time: start + 300_000,
    },
  ],
  count(lines) {
    const counts = none();
    for (const { type, event: happened, usage } of lines as Any[]) {
      if (type === "context.append_message") counts.questions++;
      if (happened?.part?.type === "think") counts.thoughts++;
      if (happened?.part?.type === "text") counts.answers++;
      if (happened?.type === "tool.call") counts.calls++;
      if (happened?.type === "tool.result") counts.results++;
      // Every request has one record, whatever its scope.
      if (type !== "usage.record") continue;
      counts.input += usage.inputOther;
      counts.output += usage.output;
      counts.cacheRead += usage.inputCacheRead;
    }
    return counts;
  },
};
