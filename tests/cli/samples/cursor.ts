// Homes of Cursor: the editor's database, the CLI's, and transcripts.
import { createHash } from "node:crypto";
import type { Home } from "./home.ts";
import { type Any, at, countBlocks, id, type Line, many, none, start } from "./sample.ts";

const bubbles = many((n) => [
  { type: 1, text: `Why ${n}?`, createdAt: at(n * 60) },
  { type: 2, thinking: { text: `Look ${n}.` }, createdAt: at(n * 60 + 1) },
  { type: 2, text: `So ${n}.`, createdAt: at(n * 60 + 2), tokenCount: { inputTokens: 100, outputTokens: 7 } },
  {
    type: 2,
    createdAt: at(n * 60 + 3),
    toolFormerData: {
      tool: 15,
      name: "run_terminal_cmd",
      toolCallId: `c${n}`,
      status: "completed",
      rawArgs: `{"command":"ls ${n}"}`,
      result: '{"output":"a"}',
    },
  },
]).map((bubble, index) => ({ bubbleId: `b${index}`, ...bubble }) as Line);

export const cursor: Home = {
  databases: {
    ".config/Cursor/User/globalStorage/state.vscdb": {
      ItemTable: [{ key: "x", value: "y" }],
      cursorDiskKV: [
        {
          key: `composerData:${id}`,
          value: JSON.stringify({
            _v: 17,
            composerId: id,
            name: "Listing",
            createdAt: start,
            lastUpdatedAt: start,
            fullConversationHeadersOnly: bubbles.map(({ bubbleId, type }) => ({ bubbleId, type })),
          }),
        },
        ...bubbles.map((bubble) => ({
          key: `bubbleId:${id}:${bubble.bubbleId}`,
          value: JSON.stringify({ _v: 3, ...bubble }),
        })),
      ],
    },
  },
  count() {
    const counts = none();
    for (const { type, text, thinking, toolFormerData, tokenCount } of bubbles as Any[]) {
      if (text) counts[type === 1 ? "questions" : "answers"]++;
      if (thinking) counts.thoughts++;
      if (toolFormerData) counts.calls++;
      if (toolFormerData?.result) counts.results++;
      counts.input += tokenCount?.inputTokens ?? 0;
      counts.output += tokenCount?.outputTokens ?? 0;
    }
    return counts;
  },
};

const talk = many((n) => [
  { role: "user", content: [{ type: "text", text: `<user_query>\nWhy ${n}?\n</user_query>` }] },
  {
    role: "assistant",
    content: [
      { type: "reasoning", text: `Look ${n}.` },
      { type: "text", text: `So ${n}.` },
      { type: "tool-call", toolCallId: `c${n}`, toolName: "Shell", args: { command: `ls ${n}` } },
    ],
  },
  {
    role: "tool",
    content: [{ type: "tool-result", toolCallId: `c${n}`, toolName: "Shell", result: `file ${n}` }],
  },
]);
const blobs = talk.map((message) => Buffer.from(JSON.stringify(message)));
const computeHash = (data: Buffer) => createHash("sha256").update(data).digest();
const root = Buffer.concat(blobs.flatMap((blob) => [Buffer.from([0x0a, 32]), computeHash(blob)]));

export const cursorCli: Home = {
  databases: {
    [`.cursor/chats/0123/${id}/store.db`]: {
      blobs: [...blobs, root].map((data) => ({ id: computeHash(data).toString("hex"), data })),
      meta: [
        {
          key: "0",
          value: Buffer.from(
            JSON.stringify({
              agentId: id,
              name: "Listing",
              createdAt: start,
              latestRootBlobId: computeHash(root).toString("hex"),
            }),
          ).toString("hex"),
        },
      ],
    },
  },
  count() {
    const counts = none();
    for (const { role, content } of talk as Any[]) countBlocks(counts, role, content);
    return counts;
  },
};

const transcript = many((n) => [
  { role: "user", message: { content: [{ type: "text", text: `<user_query>\nWhy ${n}?\n</user_query>` }] } },
  {
    role: "assistant",
    message: {
      content: [
        { type: "text", text: `So ${n}.` },
        { type: "tool_use", id: `c${n}`, name: "Shell", input: { command: `ls ${n}` } },
        { type: "tool_result", tool_use_id: `c${n}`, content: `file ${n}` },
      ],
    },
  },
]);

export const cursorTranscript: Home = {
  files: {
    [`.cursor/projects/code-api/agent-transcripts/${id}/${id}.jsonl`]: transcript
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(""),
  },
  count() {
    const counts = none();
    for (const { role, message } of transcript as Any[]) countBlocks(counts, role, message.content);
    return counts;
  },
};

const plain = many((n) => [{ n }]).map(
  ({ n }) =>
    `user:\n<user_query>\nWhy ${n}?\n</user_query>\nassistant:\n[Thinking] Look ${n}.\nSo ${n}.\n[Tool call] Shell\n  command: ls ${n}\n[Tool result] Shell\n  file ${n}\n`,
);

export const cursorText: Home = {
  files: { [`.cursor/projects/code-api/agent-transcripts/${id}.txt`]: plain.join("") },
  count() {
    const count = (words: RegExp) => plain.join("").match(words)?.length ?? 0;
    return {
      ...none(),
      questions: count(/^user:$/gm),
      answers: count(/^So /gm),
      thoughts: count(/^\[Thinking\]/gm),
      calls: count(/^\[Tool call\]/gm),
      results: count(/^\[Tool result\]/gm),
    };
  },
};
