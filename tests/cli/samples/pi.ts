import {
  type Any,
  at,
  type Counts,
  countBlocks,
  id,
  type Line,
  many,
  messageLines,
  none,
  type Sample,
} from "./sample.ts";

const piLines: Line[] = [
  { type: "session", version: 3, id, timestamp: at(0), cwd: "/code/api" },
  { type: "model_change", modelId: "claude-opus-4-5", timestamp: at(0) },
  ...many((n) =>
    messageLines(
      n,
      { type: "toolCall", id: `c${n}`, name: "bash", arguments: { command: `ls ${n}` } },
      {
        role: "toolResult",
        toolCallId: `c${n}`,
        toolName: "bash",
        content: [{ type: "text", text: `file ${n}` }],
        isError: false,
      },
      {
        model: "claude-opus-4-5",
        stopReason: "toolUse",
        usage: { input: 40, output: 7, cacheRead: 60, cacheWrite: 3, cost: { total: 0.5 } },
      },
    ),
  ),
];

const countPi = (lines: Line[]): Counts => {
  const counts = none();
  for (const { message } of lines as Any[]) {
    if (!message) continue;
    if (message.role === "toolResult") counts.results++;
    else countBlocks(counts, message.role, message.content);
    counts.input += message.usage?.input ?? 0;
    counts.output += message.usage?.output ?? 0;
    counts.cacheRead += message.usage?.cacheRead ?? 0;
  }
  return counts;
};

export const pi: Sample = {
  path: `.pi/agent/sessions/--code-api--/2026-11-01T10-00-00-000Z_${id}.jsonl`,
  lines: piLines,
  count: countPi,
};
export const ohMyPi: Sample = {
  path: `.omp/agent/sessions/--code-api--/2026-11-01T10-00-00-000Z_${id}.jsonl`,
  lines: [{ type: "title", v: 1, title: "Listing", pad: "   " }, ...piLines],
  count: countPi,
};
export const openclaw: Sample = { path: `.openclaw/agents/main/sessions/${id}.jsonl`, lines: piLines, count: countPi };
