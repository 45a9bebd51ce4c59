import { type Any, countBlocks, many, none, type Sample, start } from "./sample.ts";

const shown = [
  { ts: start, type: "say", say: "task", text: "Why?" },
  ...many((n) => [
    {
      ts: start + n * 60_000 + 1000,
      type: "say",
      say: "api_req_started",
      text: JSON.stringify({ tokensIn: 40, tokensOut: 7, cacheReads: 60, cacheWrites: 3, cost: 0.5 }),
      conversationHistoryIndex: n * 2,
    },
    {
      ts: start + n * 60_000 + 2000,
      type: "say",
      say: "text",
      text: `So ${n}.`,
      conversationHistoryIndex: n * 2,
    },
  ]),
];

/** A task of Cline or one of its relatives, in the folder of its extension. */
const taskIn = (folder: string): Sample => ({
  path: `${folder}/api_conversation_history.json`,
  others: { [`${folder}/ui_messages.json`]: JSON.stringify(shown) },
  otherEntries: shown.length,
  document: (items) => `[${items.join(",")}]`,
  lines: [
    { role: "user", content: [{ type: "text", text: "<task>\nWhy?\n</task>" }], ts: start },
    ...many((n) => [
      {
        role: "assistant",
        ts: start + n * 60_000 + 2000,
        content: [
          { type: "thinking", thinking: `Look ${n}.` },
          { type: "text", text: `So ${n}.` },
          { type: "tool_use", id: `c${n}`, name: "execute_command", input: { command: `ls ${n}` } },
        ],
      },
      {
        role: "user",
        ts: start + n * 60_000 + 3000,
        content: [{ type: "tool_result", tool_use_id: `c${n}`, content: `file ${n}` }],
      },
    ]),
  ],
  count(lines) {
    const counts = none();
    for (const { role, content } of lines as Any[]) countBlocks(counts, role, content);
    for (const { say, text } of shown) {
      if (say !== "api_req_started") continue;
      const told = JSON.parse(String(text));
      counts.input += told.tokensIn;
      counts.output += told.tokensOut;
      counts.cacheRead += told.cacheReads;
    }
    return counts;
  },
});

const extensions = ".config/Code/User/globalStorage";
export const cline = taskIn(`${extensions}/saoudrizwan.claude-dev/tasks/${start}`);
export const rooCode = taskIn(`${extensions}/rooveterinaryinc.roo-cline/tasks/${start}`);
export const kiloCode = taskIn(`.kilocode/cli/global/tasks/${start}`);
