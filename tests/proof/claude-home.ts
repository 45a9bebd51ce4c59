// Claude Code's part of the made-up home.
export type Line = Record<string, unknown>;

export const jsonl = (...lines: Line[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join("");
export const clock = (start: string) => (seconds: number) => new Date(Date.parse(start) + seconds * 1000).toISOString();

const api = ".claude/projects/-home-ada-code-api";
const [first, resumed, branch] = ["11111111", "22222222", "33333333"].map(
  (head) => `${head}-2222-4333-8444-555555555555`,
);

/** What Claude's API reports: tokens in and out, cache read, cache written for five minutes and for an hour. */
function claudeUsage(
  [input, output, read, short, long]: [number, number, number, number, number],
  more: Line = {},
): Line {
  return {
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: short + long,
    cache_creation: { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long },
    service_tier: "standard",
    ...more,
  };
}

let lines = 0;
function claude(sessionId: string | undefined, at: string, fields: Line): Line {
  lines += 1;
  const uuid = `aaaaaaaa-0000-4000-8000-${String(lines).padStart(12, "0")}`;
  const about = { sessionId, cwd: "/home/ada/code/api", version: "2.1.270", gitBranch: "main", isSidechain: false };
  return { ...about, uuid, timestamp: at, ...fields };
}

const asked = (session: string | undefined, at: string, text: string, more: Line = {}) =>
  claude(session, at, { type: "user", message: { role: "user", content: text }, ...more });

/** One line of an answer; its other lines have the same id. */
function answered(
  session: string | undefined,
  at: string,
  [id, model, content]: [string, string, Line],
  usage: Line,
  more: Line = {},
): Line {
  const message = { id: `msg_${id}`, type: "message", role: "assistant", model, content: [content], usage };
  return claude(session, at, { type: "assistant", requestId: `req_${id}`, message, ...more });
}

const text = (words: string): Line => ({ type: "text", text: words });
const tool = (id: string): Line => ({ type: "tool_use", id, name: "Bash", input: { command: "npm test" } });

/** Claude Code: four files of a project. */
export function claudeCode(): Record<string, string> {
  lines = 0;
  const at = clock("2026-11-01T23:00:00Z");
  const opus = "claude-opus-4-8";
  // An answer in three lines, whose output grows while it is written.
  const start = [
    asked(first, at(0), "Mend the timer"),
    answered(
      first,
      at(5),
      ["a1", opus, { type: "thinking", thinking: "Where is it?" }],
      claudeUsage([3, 8, 0, 2000, 9000]),
    ),
    answered(first, at(6), ["a1", opus, text("I look.")], claudeUsage([3, 8, 0, 2000, 9000])),
    answered(first, at(7), ["a1", opus, tool("t1")], claudeUsage([3, 412, 0, 2000, 9000])),
    claude(first, at(9), {
      type: "user",
      message: { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "4 passed" }] },
    }),
    answered(
      first,
      at(12),
      ["a2", opus, text("It is mended.")],
      claudeUsage([5, 96, 11_000, 310, 0], { server_tool_use: { web_search_requests: 2 } }),
    ),
  ];
  const rest = [
    // The next day in UTC.
    asked(first, at(4000), "And the docs"),
    answered(
      first,
      at(4010),
      ["a3", "claude-sonnet-4-5-20250929", text("They are long.")],
      claudeUsage([250, 1200, 240_000, 1500, 0]),
    ),
    // A sub-agent of versions that wrote it into the session's own file.
    asked(first, at(4100), "Look for callers", { isSidechain: true }),
    answered(
      first,
      at(4110),
      ["s1", "claude-haiku-4-5-20251001", text("There are two.")],
      claudeUsage([900, 55, 0, 0, 0]),
      { isSidechain: true },
    ),
    // What the program writes for itself has no tokens.
    answered(first, at(4200), ["e1", "<synthetic>", text("API Error: overloaded")], claudeUsage([0, 0, 0, 0, 0])),
    answered(
      first,
      at(4300),
      ["a4", "claude-opus-4-6", text("Quickly.")],
      claudeUsage([40, 300, 12_000, 0, 0], { speed: "fast" }),
    ),
  ];
  const agent = [
    asked(first, at(4400), "Count the tests", { isSidechain: true, agentId: "ab12" }),
    answered(
      first,
      at(4405),
      ["g1", "claude-haiku-4-5-20251001", text("Twelve.")],
      claudeUsage([1200, 70, 0, 4000, 0]),
      { isSidechain: true, agentId: "ab12" },
    ),
  ];
  const copied = (lines: Line[], sessionId: string | undefined, more: (line: Line) => Line = () => ({})) =>
    lines.map((line) => ({ ...line, sessionId, ...more(line) }));
  return {
    [`${api}/${first}.jsonl`]: jsonl(...start, ...rest),
    [`${api}/${first}/subagents/agent-ab12.jsonl`]: jsonl(...agent),
    // Taken up again in a file of its own: older versions copied all lines with their own ids.
    [`${api}/${resumed}.jsonl`]: jsonl(
      ...copied(start, resumed),
      asked(resumed, at(90_000), "Go on"),
      answered(resumed, at(90_010), ["r1", opus, text("Gladly.")], claudeUsage([7, 31, 11_400, 150, 0])),
    ),
    // A branch names the session that it was forked from.
    [`${api}/${branch}.jsonl`]: jsonl(
      ...copied(start, branch, ({ uuid }) => ({ forkedFrom: { sessionId: first, messageUuid: uuid } })),
      asked(branch, at(95_000), "Another way"),
      answered(branch, at(95_020), ["b1", opus, text("Like this.")], claudeUsage([9, 77, 11_400, 0, 820])),
    ),
  };
}
