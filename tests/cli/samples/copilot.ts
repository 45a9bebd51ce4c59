import { type Any, at, id, many, none, type Sample } from "./sample.ts";

export const copilot: Sample = {
  path: `.copilot/session-state/${id}/events.jsonl`,
  lines: [
    {
      type: "session.start",
      timestamp: at(0),
      data: { sessionId: id, copilotVersion: "1.0.77", context: { cwd: "/code/api", branch: "main" } },
    },
    ...many((n) => [
      { type: "user.message", id: `u${n}`, timestamp: at(n * 60), data: { content: `Why ${n}?`, attachments: [] } },
      { type: "assistant.reasoning", timestamp: at(n * 60 + 1), data: { content: `Look ${n}.` } },
      {
        type: "assistant.message",
        timestamp: at(n * 60 + 2),
        data: {
          messageId: `m${n}`,
          requestId: `r${n}`,
          content: `So ${n}.`,
          reasoningText: `Look ${n}.`,
          outputTokens: 7,
          toolRequests: [{ toolCallId: `c${n}`, name: "bash", arguments: { command: `ls ${n}` } }],
        },
      },
      {
        type: "tool.execution_start",
        timestamp: at(n * 60 + 3),
        data: { toolCallId: `c${n}`, toolName: "bash", arguments: { command: `ls ${n}` } },
      },
      {
        type: "tool.execution_complete",
        timestamp: at(n * 60 + 4),
        data: { toolCallId: `c${n}`, success: true, result: { content: `file ${n}` } },
      },
    ]),
    {
      type: "session.shutdown",
      timestamp: at(400),
      data: {
        modelMetrics: {
          "gpt-5": { usage: { inputTokens: 400, outputTokens: 28, cacheReadTokens: 240, cacheWriteTokens: 0 } },
        },
      },
    },
  ],
  count(lines) {
    const counts = none();
    for (const { type, data } of lines as Any[]) {
      if (type === "user.message") counts.questions++;
      if (type === "assistant.reasoning") counts.thoughts++;
      if (type === "tool.execution_complete") counts.results++;
      if (type === "assistant.message") {
        counts.answers++;
        counts.calls += data.toolRequests.length;
      }
      if (type !== "session.shutdown") continue;
      for (const { usage } of Object.values(data.modelMetrics) as Any[]) {
        counts.input += usage.inputTokens - usage.cacheReadTokens;
        counts.output += usage.outputTokens;
        counts.cacheRead += usage.cacheReadTokens;
      }
    }
    return counts;
  },
};
