import { type Any, at, id, type Line, many, none, type Sample } from "./sample.ts";

export const qwen: Sample = {
  path: `.qwen/projects/-code-api/chats/${id}.jsonl`,
  lines: many((n) => {
    const record = (type: string, seconds: number, parts: Line[], more: Line = {}) => ({
      uuid: `${type}-${n}`,
      sessionId: id,
      timestamp: at(n * 60 + seconds),
      type,
      cwd: "/code/api",
      version: "0.21.0",
      message: { role: "x", parts },
      ...more,
    });
    return [
      record("user", 0, [
        { text: `Why ${n}?` },
        { text: "<qwen:user-prompt-submit-context>Added.</qwen:user-prompt-submit-context>" },
      ]),
      record(
        "assistant",
        1,
        [
          { text: `Look ${n}.`, thought: true },
          { text: `So ${n}.` },
          { functionCall: { id: `c${n}`, name: "read_file", args: { path: "a.ts" } } },
        ],
        {
          model: "qwen3-coder",
          usageMetadata: {
            promptTokenCount: 100,
            cachedContentTokenCount: 60,
            candidatesTokenCount: 7,
            thoughtsTokenCount: 2,
          },
        },
      ),
      record(
        "tool_result",
        2,
        [{ functionResponse: { id: `c${n}`, name: "read_file", response: { output: `file ${n}` } } }],
        { toolCallResult: { callId: `c${n}`, status: "success" } },
      ),
      record("system", 3, [], { subtype: "ui_telemetry" }),
    ];
  }),
  count(lines) {
    const counts = none();
    for (const { type, message, usageMetadata } of lines as Any[]) {
      for (const part of message.parts) {
        if (part.functionCall) counts.calls++;
        else if (part.functionResponse) counts.results++;
        else if (part.thought) counts.thoughts++;
        else if (type === "assistant") counts.answers++;
        else if (!part.text.startsWith("<")) counts.questions++;
      }
      if (!usageMetadata) continue;
      counts.input += usageMetadata.promptTokenCount - usageMetadata.cachedContentTokenCount;
      counts.output += usageMetadata.candidatesTokenCount;
      counts.cacheRead += usageMetadata.cachedContentTokenCount;
    }
    return counts;
  },
};
