// Made-up sessions of each agent, as its program writes them, and a small reading of the same files beside each: it counts without
// any code of the client, so that both can only agree where both are right.

export type Line = Record<string, unknown>;

export type Counts = {
  questions: number;
  answers: number;
  thoughts: number;
  calls: number;
  results: number;
  input: number;
  output: number;
  cacheRead: number;
};

export type Sample = {
  /** The lines of the session's log, or the elements of its list. */
  lines: Line[];
  /** The log's path below the home folder. */
  path: string;
  /** The text of a file that is one JSON value. @param items the elements of its list, as JSON */
  document?(items: string[]): string;
  /** How many entries the other files have. */
  otherEntries?: number;
  /** Other files, by their paths below the home folder. */
  others?: Record<string, string>;
  /** The small reading. */
  count(lines: Line[]): Counts;
};

const turns = 4;
export const start = Date.parse("2026-11-01T10:00:00.000Z");
export const at = (seconds: number) => new Date(start + seconds * 1000).toISOString();
export const many = (make: (turn: number) => Line[]): Line[] =>
  Array.from({ length: turns }, (_, turn) => make(turn)).flat();
export const id = "0199aaaa-2222-7333-8444-555555555555";

// biome-ignore lint/suspicious/noExplicitAny: the small readings look at the samples above alone
export type Any = any;

export const none = (): Counts => ({
  questions: 0,
  answers: 0,
  thoughts: 0,
  calls: 0,
  results: 0,
  input: 0,
  output: 0,
  cacheRead: 0,
});

/** What agents call blocks that are no text. */
const [thoughts, calls, results] = [
  ["thinking", "reasoning"],
  ["toolCall", "tool_use", "tool_call", "tool-call", "toolRequest"],
  ["tool_result", "tool-result", "toolResponse"],
];

/** A message's blocks, counted. */
export function countBlocks(counts: Counts, role: string, blocks: Any[]): void {
  for (const { type } of blocks) {
    if (thoughts.includes(type)) counts.thoughts++;
    else if (calls.includes(type)) counts.calls++;
    else if (results.includes(type)) counts.results++;
    else if (role === "assistant") counts.answers++;
    else counts.questions++;
  }
}

/**
 * A question, an answer with a thought and a call, and the call's result, each a line with the message in it.
 *
 * @param call the call's block
 * @param result the result's message
 * @param more other fields of the answer
 */
export function messageLines(n: number, call: Line, result: Line, more: Line = {}): Line[] {
  const blocks = [{ type: "thinking", thinking: `Look ${n}.` }, { type: "text", text: `So ${n}.` }, call];
  const messages: [id: string, message: Line][] = [
    ["u", { role: "user", content: [{ type: "text", text: `Why ${n}?` }] }],
    ["a", { role: "assistant", ...more, content: blocks }],
    ["r", result],
  ];
  return messages.map(([name, message], second) => ({
    type: "message",
    id: `${name}${n}`,
    timestamp: at(n * 60 + second),
    message,
  }));
}
