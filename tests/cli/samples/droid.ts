import { type Any, at, countBlocks, many, none, type Sample } from "./sample.ts";

export const droid: Sample = {
  path: ".factory/sessions/-code-api/d1.jsonl",
  others: {
    ".factory/sessions/-code-api/d1.settings.json": JSON.stringify({
      model: "claude-opus-4-5",
      tokenUsage: { inputTokens: 160, outputTokens: 28, cacheReadTokens: 240 },
    }),
  },
  lines: [
    { type: "session_start", id: "d1", title: "Listing", cwd: "/code/api", version: "0.81.0" },
    ...many((n) => [
      {
        type: "message",
        id: `u${n}`,
        timestamp: at(n * 60),
        message: { role: "user", content: [{ type: "text", text: `Why ${n}?` }] },
      },
      {
        type: "message",
        id: `a${n}`,
        timestamp: at(n * 60 + 1),
        message: {
          role: "assistant",
          content: [
            { type: "thinking", thinking: `Look ${n}.` },
            { type: "text", text: `So ${n}.` },
            { type: "tool_use", id: `c${n}`, name: "Execute", input: { command: `ls ${n}` } },
          ],
        },
      },
      {
        type: "message",
        id: `r${n}`,
        timestamp: at(n * 60 + 2),
        message: { role: "user", content: [{ type: "tool_result", tool_use_id: `c${n}`, content: `file ${n}` }] },
      },
    ]),
  ],
  count(lines) {
    const counts = { ...none(), input: 160, output: 28, cacheRead: 240 };
    for (const { message } of lines as Any[]) if (message) countBlocks(counts, message.role, message.content);
    return counts;
  },
};
