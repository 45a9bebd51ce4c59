// Made-up sessions in the agents' file formats.

const start = Date.parse("2026-11-01T10:00:00.000Z");
const at = (seconds: number) => new Date(start + seconds * 1000).toISOString();

type Line = Record<string, unknown>;

/** The lines of a Claude Code session. Each turn has a question, an answer, a tool call and its result. */
export function claudeLines(sessionId: string, turns: number, options: { cwd?: string; text?: string } = {}): Line[] {
  const { cwd = "/home/ada/code/api", text = "Look at the retry timer." } = options;
  const common = { sessionId, cwd, gitBranch: "main", version: "2.1.0", isSidechain: false, userType: "external" };
  return Array.from({ length: turns }, (_, turn) => {
    const id = `msg_${sessionId.slice(0, 8)}_${turn}`;
    const usage = { input_tokens: 10, output_tokens: 40, cache_read_input_tokens: 100, cache_creation_input_tokens: 5 };
    const message = { id, type: "message", role: "assistant", model: "claude-opus-4-5", usage };
    const uuid = (part: number) => `${sessionId}-${turn}-${part}`;
    const line = (part: number, fields: Line) => ({
      ...common,
      uuid: uuid(part),
      timestamp: at(turn * 60 + part),
      ...fields,
    });
    const call = { type: "tool_use", id: `toolu_${turn}`, name: "Bash", input: { command: `npm test -- ${turn}` } };
    const result = { type: "tool_result", tool_use_id: `toolu_${turn}`, content: `${turn + 1} tests passed` };
    return [
      line(0, { type: "user", message: { role: "user", content: `${text} (${turn})` } }),
      line(1, {
        type: "assistant",
        message: { ...message, content: [{ type: "text", text: `Reading it, ${turn}.` }] },
      }),
      line(2, { type: "assistant", message: { ...message, content: [call] } }),
      line(3, {
        type: "user",
        message: { role: "user", content: [result] },
        toolUseResult: { stdout: "", interrupted: false },
      }),
    ];
  }).flat();
}

/** The messages that each turn of `claudeLines` yields. */
export const claudeMessagesPerTurn = 4;

/** The lines of a Codex session. */
export function codexLines(id: string, turns: number, options: { cwd?: string } = {}): Line[] {
  const { cwd = "/home/ada/code/web" } = options;
  const meta = {
    id,
    timestamp: at(0),
    cwd,
    originator: "codex_cli_rs",
    cli_version: "0.60.0",
    git: { branch: "main" },
  };
  const item = (seconds: number, payload: Line) => ({ timestamp: at(seconds), type: "response_item", payload });
  const total = (turn: number) => ({
    input_tokens: 100 * turn,
    cached_input_tokens: 60 * turn,
    output_tokens: 20 * turn,
  });
  return [
    { timestamp: at(0), type: "session_meta", payload: meta },
    { timestamp: at(0), type: "turn_context", payload: { cwd, model: "gpt-5.2" } },
    ...Array.from({ length: turns }, (_, turn) => {
      const s = 60 * turn + 10;
      const words = { cmd: `ls ${turn}` };
      return [
        item(s, { type: "message", role: "user", content: [{ type: "input_text", text: `Question ${turn}` }] }),
        item(s + 1, {
          type: "function_call",
          name: "exec_command",
          arguments: JSON.stringify(words),
          call_id: `c${turn}`,
        }),
        item(s + 2, { type: "function_call_output", call_id: `c${turn}`, output: `file ${turn}` }),
        item(s + 3, { type: "message", role: "assistant", content: [{ type: "output_text", text: `Answer ${turn}` }] }),
        {
          timestamp: at(s + 4),
          type: "event_msg",
          payload: { type: "token_count", info: { total_token_usage: total(turn + 1) } },
        },
      ];
    }).flat(),
  ];
}
