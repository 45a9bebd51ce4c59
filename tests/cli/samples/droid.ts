import { type Any, countBlocks, many, messageLines, none, type Sample } from "./sample.ts";

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
    ...many((n) =>
      messageLines(
        n,
        { type: "tool_use", id: `c${n}`, name: "Execute", input: { command: `ls ${n}` } },
        { role: "user", content: [{ type: "tool_result", tool_use_id: `c${n}`, content: `file ${n}` }] },
      ),
    ),
  ],
  count(lines) {
    const counts = { ...none(), input: 160, output: 28, cacheRead: 240 };
    for (const { message } of lines as Any[]) if (message) countBlocks(counts, message.role, message.content);
    return counts;
  },
};
