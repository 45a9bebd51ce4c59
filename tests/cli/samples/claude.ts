// Homes of Claude Code, and of the agents that write its lines.
import type { Home } from "./home.ts";
import { type Any, at, countBlocks, id, many, none } from "./sample.ts";

const usage = { input_tokens: 40, output_tokens: 7, cache_read_input_tokens: 60, cache_creation_input_tokens: 3 };

/** @param sessionId of every line @param path of their file below the home folder */
function homeAt(path: string, sessionId = id): Home {
  const line = (turn: number, second: number, type: string, message: object) => ({
    type,
    sessionId,
    uuid: `u${turn}.${second}`,
    timestamp: at(turn * 60 + second),
    cwd: "/code/api",
    version: "2.1.300",
    message: { role: type, ...message },
  });
  const lines = many((n) => {
    const answer = (...content: object[]) => ({ id: `msg_${n}`, model: "claude-opus-4-5", usage, content });
    return [
      line(n, 0, "user", { content: `Why ${n}?` }),
      // One answer in three lines, each of which repeats its tokens.
      line(n, 1, "assistant", answer({ type: "thinking", thinking: `Look ${n}.`, signature: "" })),
      line(n, 2, "assistant", answer({ type: "text", text: `So ${n}.` })),
      line(n, 3, "assistant", answer({ type: "tool_use", id: `c${n}`, name: "Bash", input: { command: `ls ${n}` } })),
      line(n, 4, "user", { content: [{ type: "tool_result", tool_use_id: `c${n}`, content: `file ${n}` }] }),
    ];
  });
  return {
    files: { [path]: lines.map((one) => `${JSON.stringify(one)}\n`).join("") },
    count() {
      const counts = none();
      const used = new Map<string, typeof usage>();
      for (const { type, message } of lines as Any[]) {
        if (typeof message.content === "string") counts.questions++;
        else countBlocks(counts, type, message.content);
        if (message.usage) used.set(message.id, message.usage);
      }
      for (const one of used.values()) {
        counts.input += one.input_tokens;
        counts.output += one.output_tokens;
        counts.cacheRead += one.cache_read_input_tokens;
      }
      return counts;
    },
  };
}

export const claudeCode = homeAt(`.claude/projects/-code-api/${id}.jsonl`);
export const openclaude = homeAt(`.openclaude/projects/-code-api/${id}.jsonl`);
export const cowork = homeAt(
  `.config/Claude/local-agent-mode-sessions/org/space/local_1/.claude/projects/-code-api/${id}.jsonl`,
);
export const iflow = homeAt(`.iflow/projects/-code-api/session-${id}.jsonl`, `session-${id}`);
