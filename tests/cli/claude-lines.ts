// Made-up lines of Claude Code, with what its versions of 2025 and 2026 write beside the conversation.

const start = Date.parse("2026-11-01T10:00:00.000Z");

type Line = Record<string, unknown>;

export const id = "11111111-2222-4333-8444-555555555555";
export const otherId = "99999999-2222-4333-8444-555555555555";

/** A line's id. */
export const makeUuid = (number: number): string => `aaaaaaaa-0000-4000-8000-${String(number).padStart(12, "0")}`;

/** A question, always at the same time and with the same id: a session's plainest line. */
export const said = (content: unknown, more: object = {}) => ({
  type: "user",
  sessionId: id,
  uuid: "u",
  timestamp: "2026-11-01T10:00:00.000Z",
  message: { role: "user", content },
  ...more,
});
/** An answer, as plain. */
export const answered = (content: unknown, message: object = {}, more: object = {}) => ({
  type: "assistant",
  sessionId: id,
  uuid: "a",
  timestamp: "2026-11-01T10:00:01.000Z",
  message: { id: "msg_1", role: "assistant", model: "claude-opus-4-5", content, ...message },
  ...more,
});

/** Makes lines with ids and times in a row. */
export class Lines {
  #number = 0;
  readonly #common: Line;

  constructor(common: Line = {}) {
    this.#common = { sessionId: id, cwd: "/home/ada/code/api", gitBranch: "main", version: "2.1.270", ...common };
  }

  line(fields: Line): Line {
    const number = this.#number++;
    const timestamp = new Date(start + number * 1000).toISOString();
    return { ...this.#common, uuid: makeUuid(number), timestamp, ...fields };
  }

  said(content: unknown, more: Line = {}): Line {
    return this.line({ type: "user", message: { role: "user", content }, ...more });
  }

  answered(content: unknown, message: Line = {}, more: Line = {}): Line {
    const answer = { id: "msg_1", role: "assistant", model: "claude-opus-4-5", content, ...message };
    return this.line({ type: "assistant", message: answer, ...more });
  }

  result(callId: string, output: unknown, more: Line = {}): Line {
    return this.said([{ type: "tool_result", tool_use_id: callId, content: output }], more);
  }

  system(subtype: string, more: Line = {}): Line {
    return this.line({ type: "system", subtype, ...more });
  }

  attached(attachment: Line, more: Line = {}): Line {
    return this.line({ type: "attachment", attachment, ...more });
  }
}

export const text = (words: string): Line[] => [{ type: "text", text: words }];
export const call = (callId: string, command: string): Line[] => [
  { type: "tool_use", id: callId, name: "Bash", input: { command } },
];

/** A session with something of everything. */
export function variedLines(): Line[] {
  const make = new Lines();
  const usage = (output_tokens: number) => ({
    input_tokens: 3,
    output_tokens,
    cache_read_input_tokens: 100,
    cache_creation_input_tokens: 30,
    cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
    output_tokens_details: { thinking_tokens: 2 },
    service_tier: "standard",
    speed: "standard",
  });
  const answer = (output: number, more: Line = {}) => ({ usage: usage(output), stop_reason: "tool_use", ...more });
  const second = (output: number, more: Line = {}) => answer(output, { id: "msg_2", stop_reason: "end_turn", ...more });
  const [first, next] = [{ requestId: "req_1" }, { requestId: "req_2" }];
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "A".repeat(2048) } };
  return [
    { type: "ai-title", aiTitle: "Mend the timer", sessionId: id },
    { type: "mode", mode: "normal", sessionId: id },
    { type: "queue-operation", operation: "enqueue", timestamp: "2026-11-01T09:59:59.000Z", content: "Mend it" },
    { type: "queue-operation", operation: "dequeue", timestamp: "2026-11-01T10:00:00.000Z" },
    make.said([...text("Mend it, as in @notes.md"), image]),
    make.attached({ type: "file", filename: "/home/ada/code/api/notes.md", displayPath: "notes.md", content: {} }),
    make.attached({ type: "hook_success", hookName: "UserPromptSubmit", content: "Be brief.", stdout: "Be brief." }),
    make.attached({ type: "skill_listing", content: "many" }),
    make.answered([{ type: "thinking", thinking: "", signature: "x" }], answer(8, { stop_reason: null }), first),
    make.answered(text("I look."), answer(8), first),
    make.answered(call("t1", "git commit -am 'Mend the timer'"), answer(40), first),
    { type: "queue-operation", operation: "enqueue", timestamp: "2026-11-01T10:00:06.000Z", content: "And the docs" },
    make.result("t1", "[main abc1234] Mend the timer\n 1 file changed", {
      toolUseResult: {
        stdout: "",
        gitOperation: { commit: { sha: "abc1234def0", kind: "committed", branch: "main" } },
      },
    }),
    { type: "queue-operation", operation: "remove", timestamp: "2026-11-01T10:00:07.000Z", content: "And the docs" },
    make.attached({ type: "queued_command", prompt: "And the docs", commandMode: "prompt", origin: { kind: "human" } }),
    make.answered(call("t2", "gh pr create --fill"), second(20), { ...next, gitBranch: "timer" }),
    make.result("t2", "https://github.com/ada/api/pull/7", { gitBranch: "timer" }),
    {
      type: "pr-link",
      sessionId: id,
      prNumber: 7,
      prUrl: "https://github.com/ada/api/pull/7",
      prRepository: "ada/api",
      timestamp: "2026-11-01T10:00:11.000Z",
    },
    make.answered(text("Done."), second(25), { ...next, gitBranch: "timer" }),
    make.system("stop_hook_summary", { hookCount: 1, hookErrors: ["lint failed"], preventedContinuation: false }),
    make.system("turn_duration", { durationMs: 900 }),
    make.system("away_summary", { content: "You mended the timer." }),
    { type: "cost-state", sessionId: id, startTime: start, totalCostUSD: 0.01, modelUsage: {} },
    { type: "cost-state", sessionId: id, startTime: start, totalCostUSD: 0.03, modelUsage: {} },
    { type: "cost-state", sessionId: id, startTime: start + 60_000, totalCostUSD: 0.5, modelUsage: {} },
    { type: "last-prompt", lastPrompt: "And the docs", leafUuid: makeUuid(9), sessionId: id },
  ];
}
