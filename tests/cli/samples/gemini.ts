import { type Any, at, id, many, none, type Sample } from "./sample.ts";

export const gemini: Sample = {
  path: ".gemini/tmp/api/chats/session-2026-11-01T10-00-aaaa1111.jsonl",
  lines: [
    { sessionId: id, projectHash: "x", startTime: at(0), kind: "main" },
    ...many((n) => {
      const answer = {
        id: `a${n}`,
        timestamp: at(n * 60 + 2),
        type: "gemini",
        model: "gemini-3-pro",
        content: `So ${n}.`,
        thoughts: [{ subject: "Look", description: `${n}` }],
      };
      const call = {
        id: `c${n}`,
        name: "run_shell_command",
        args: { command: `ls ${n}` },
        status: "success",
        result: [{ functionResponse: { id: `c${n}`, response: { output: `file ${n}` } } }],
      };
      return [
        { id: `u${n}`, timestamp: at(n * 60), type: "user", content: [{ text: `Why ${n}?` }] },
        answer,
        {
          ...answer,
          tokens: { input: 100, cached: 60, output: 7, thoughts: 2, tool: 0, total: 109 },
          toolCalls: [call],
        },
        { $set: { lastUpdated: at(n * 60 + 3) } },
      ];
    }),
  ],
  count(lines) {
    const counts = none();
    const last = new Map((lines as Any[]).filter((line) => line.type).map((line) => [line.id, line]));
    for (const { type, thoughts, toolCalls, tokens } of last.values()) {
      if (type === "user") counts.questions++;
      else counts.answers++;
      counts.thoughts += thoughts?.length ?? 0;
      counts.calls += toolCalls?.length ?? 0;
      counts.results += toolCalls?.length ?? 0;
      if (!tokens) continue;
      counts.input += tokens.input - tokens.cached;
      counts.output += tokens.output + tokens.thoughts;
      counts.cacheRead += tokens.cached;
    }
    return counts;
  },
};
