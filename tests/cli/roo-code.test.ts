import { utimes } from "node:fs/promises";
import { expect, test } from "vitest";
import { kiloCode, rooCode } from "../../cli/adapters/cline/adapter.ts";
import { kilo } from "../../cli/adapters/opencode/adapter.ts";
import { request, say, task } from "./cline-tasks.ts";
import { kinds, makeHome, parseAll, writeBelow } from "./home.ts";

const ask = (seconds: number, kind: string, words: string) => ({
  ...say(seconds, "", words),
  type: "ask",
  say: undefined,
  ask: kind,
});

test("without the conversation, or where it was replaced by a summary, the display is read", async () => {
  const shown = [
    say(0, "text", "List it", { images: ["data:image/png;base64,AA"] }),
    request(1, 10, 20),
    say(2, "reasoning", "Hm."),
    ask(3, "command", "ls"),
    ask(4, "command_output", "a"),
    say(5, "command_output", "b"),
    ask(6, "tool", JSON.stringify({ tool: "listFilesTopLevel", path: "src", content: "c.ts" })),
    say(7, "tool", JSON.stringify({ tool: "appliedDiff", path: "c.ts", diff: "-a\n+b" })),
    ask(
      8,
      "use_mcp_server",
      JSON.stringify({ type: "use_mcp_tool", serverName: "s", toolName: "t", arguments: '{"a":1}' }),
    ),
    say(9, "mcp_server_response", "ok"),
    say(10, "condense_context", "", { contextCondense: { summary: "They listed." } }),
    say(11, "user_feedback", "Go on"),
    request(12, 1, 2),
    say(13, "completion_result", "Done"),
    ask(14, "completion_result", "Done"),
    say(15, "text", "half", { partial: true }),
    say(16, "dream", "x"),
  ];
  const note = { id: "t", task: "List it", workspace: "C:\\code\\web", parentTaskId: "p" };
  const roo = ".vscode-server/data/User/globalStorage/rooveterinaryinc.roo-cline/tasks";
  const short = [
    { role: "user", content: "Summary" },
    { role: "assistant", content: "x" },
    { role: "assistant", content: "y" },
  ];
  const host = await makeHome({
    ...task({ "ui_messages.json": shown, "history_item.json": note }, `${roo}/a`),
    ...task({ "ui_messages.json": shown, "api_conversation_history.json": short }, `${roo}/b`),
  });
  const { sessions, unhandled, counts } = await parseAll(rooCode, host);
  expect(sessions.map(({ messages }) => messages.length)).toEqual([13, 13]);
  expect(kinds(sessions[0]?.messages)).toEqual([
    ["user", "", "List it\n[image: image/png, 1 KiB]"],
    ["assistant", "thinking", "Hm."],
    ["assistant", "call", "execute_command\nls"],
    ["tool", "result", "a\nb"],
    ["assistant", "call", "listFilesTopLevel\nsrc"],
    ["tool", "result", "c.ts"],
    ["assistant", "call", "appliedDiff\nc.ts\n-a\n+b"],
    ["assistant", "call", "use_mcp_tool\ns\nt"],
    ["tool", "result", "ok"],
    ["system", "notice", "They listed."],
    ["user", "", "Go on"],
    ["assistant", "", "Done"],
    ["system", "notice", "x"],
  ]);
  expect(sessions[0]?.messages[0]?.metadata).toEqual({ attachments: [{ type: "image/png" }] });
  expect(sessions[0]?.ending).toMatchObject({
    title: "List it",
    project: "web",
    metadata: { parent: "p", usage: { inputTokens: 11, outputTokens: 22, cacheReadTokens: 200, cacheWriteTokens: 10 } },
  });
  expect(unhandled).toEqual(["message.dream", "message.dream"]);
  expect(counts.invalid).toBe(0);
});

test("cached tokens are taken from the input where a newer Roo Code includes them", async () => {
  const told = { tokensIn: 120, tokensOut: 3, cacheWrites: 10, cacheReads: 100, apiProtocol: "anthropic" };
  const shown = [say(0, "text", "Hi"), say(1, "api_req_started", JSON.stringify(told)), say(2, "text", "Hello")];
  const kilo = ".kilocode/cli/global/tasks/k";
  const { sessions } = await parseAll(kiloCode, await makeHome(task({ "ui_messages.json": shown }, kilo)));
  expect([sessions[0]?.source, sessions[0]?.ending.metadata?.usage]).toEqual([
    "kilo-code",
    { inputTokens: 10, outputTokens: 3, cacheReadTokens: 100, cacheWriteTokens: 10 },
  ]);
});

test("the newer Kilo keeps its sessions as OpenCode does, in its own folder", async () => {
  const kept = ".local/share/kilo/storage";
  const host = await makeHome({
    [`${kept}/session/p/ses_a.json`]: JSON.stringify({ id: "ses_a", directory: "/code/api", title: "Listing" }),
    [`${kept}/message/ses_a/msg_1.json`]: JSON.stringify({ id: "msg_1", role: "user", time: { created: 1 } }),
    [`${kept}/part/msg_1/prt_1.json`]: JSON.stringify({ id: "prt_1", type: "text", text: "List." }),
    ".local/share/kilo/kilo-dev.db": "no database, but long enough to look at".repeat(40),
    ".local/share/opencode/opencode.db": "not Kilo's",
  });
  const { sessions, lost } = await parseAll(kilo, host);
  expect(sessions).toMatchObject([
    { source: "kilo", sourceId: "ses_a", messages: [{ content: "List." }], ending: { project: "api" } },
  ]);
  expect(lost).toEqual([expect.stringContaining("not a database")]);
});

test("of a task that two editors have, the one that was changed last is read", async () => {
  const shown = (text: string) => ({ "ui_messages.json": [say(0, "text", text)] });
  const below = (editor: string) => `.config/${editor}/User/globalStorage/rooveterinaryinc.roo-cline/tasks/a`;
  const host = await makeHome(task(shown("newer"), below("Cursor")));
  for (const [path, content] of Object.entries(task(shown("older"), below("Code")))) {
    const file = await writeBelow(host.home, path, content);
    await utimes(file, 1, 1);
  }
  const { sessions } = await parseAll(rooCode, host);
  expect(sessions.map(({ messages }) => messages[0]?.content)).toEqual(["newer"]);
});
