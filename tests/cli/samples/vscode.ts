import { type Any, many, none, type Sample, start } from "./sample.ts";

export const vscodeCopilot: Sample = {
  path: ".config/Code/User/workspaceStorage/abc/chatSessions/s.json",
  document: (items) => `{"version":3,"sessionId":"s","creationDate":${start},"requests":[${items.join(",")}]}`,
  otherEntries: 1,
  lines: many((n) => [
    {
      requestId: `r${n}`,
      timestamp: start + n * 60_000,
      message: { text: `Why ${n}?`, parts: [] },
      modelId: "copilot/claude-opus-4.5",
      response: [
        { kind: "thinking", value: `Look ${n}.` },
        { value: `So ${n}.` },
        { kind: "toolInvocationSerialized", toolId: "copilot_readFile", toolCallId: `c${n}`, isComplete: true },
        { value: `Done ${n}.` },
      ],
      result: {
        metadata: {
          promptTokens: 40,
          outputTokens: 7,
          toolCallRounds: [
            { response: `So ${n}.`, toolCalls: [{ id: `c${n}`, name: "read_file", arguments: `{"path":"${n}"}` }] },
            { response: `Done ${n}.`, toolCalls: [] },
          ],
          toolCallResults: { [`c${n}`]: { content: [{ value: `file ${n}` }] } },
        },
      },
    },
  ]),
  count(lines) {
    const counts = none();
    for (const { response, result } of lines as Any[]) {
      counts.questions++;
      for (const { kind } of response) {
        if (kind === "thinking") counts.thoughts++;
        else if (kind === undefined) counts.answers++;
        else counts.calls++;
      }
      counts.results += Object.keys(result.metadata.toolCallResults).length;
      counts.input += result.metadata.promptTokens;
      counts.output += result.metadata.outputTokens;
    }
    return counts;
  },
};
