import { join } from "node:path";
import { expect, test } from "vitest";
import { vscodeCopilot } from "../../cli/adapters/vscode-copilot/adapter.ts";
import { makeHome, parseAll, toLines, writeBelow } from "./home.ts";
import { answer, at, chats, request, session, shownCall, start, user, workspace } from "./vscode-chats.ts";

const turn = request(
  1,
  [
    { kind: "mcpServersStarting", didStartServerIds: [] },
    { kind: "thinking", value: "Hm.", id: "t" },
    { kind: "thinking", value: "", id: "t" },
    { value: "I look at " },
    { kind: "inlineReference", inlineReference: { fsPath: "/code/a.ts", scheme: "file" } },
    { value: "." },
    shownCall("call_1", { isComplete: false }),
    shownCall("call_1"),
    shownCall("call_2", {
      toolId: "run_in_terminal",
      toolSpecificData: {
        kind: "terminal",
        commandLine: { original: "npm test" },
        terminalCommandState: { exitCode: 1, duration: 40 },
      },
    }),
    shownCall("uuid-3", {
      toolId: "mcp_x",
      resultDetails: { input: '{"a":1}', output: [{ value: "done", isText: true }], isError: true },
    }),
    { kind: "textEditGroup", uri: { fsPath: "/code/a.ts" }, edits: [[{ text: "x", range: {} }]] },
    { kind: "warning", content: { value: "Slow." } },
    { kind: "dream" },
    { value: "Fixed." },
  ],
  {
    message: { text: "Fix it", parts: [] },
    variableData: {
      variables: [
        { kind: "file", name: "a.ts", id: "f" },
        { kind: "image", name: "shot.png", mimeType: "image/png", id: "i" },
        { kind: "implicit", name: "file:b.ts", id: "vscode.implicit.file" },
      ],
    },
    modelState: { value: 1, completedAt: start + 90_000 },
    result: {
      metadata: {
        promptTokens: 1000,
        outputTokens: 50,
        toolCallRounds: [
          {
            response: "I look at",
            toolCalls: [{ id: "call_1__vscode-9", name: "read_file", arguments: '{"filePath":"/code/a.ts"}' }],
          },
          {
            response: "",
            toolCalls: [{ id: "call_2__vscode-9", name: "run_in_terminal", arguments: '{"command":"npm test"}' }],
          },
        ],
        toolCallResults: {
          "call_1__vscode-9": {
            content: [
              {
                value: {
                  node: {
                    type: 1,
                    children: [
                      { type: 2, text: "let a" },
                      { type: 2, text: "= 1", lineBreakBefore: true },
                    ],
                  },
                },
              },
            ],
          },
          "call_2__vscode-9": { content: [{ value: "1 failed" }] },
        },
      },
    },
  },
);

test("a turn has its question, thoughts, calls with what the model got, model, tokens and times", async () => {
  const host = await makeHome({
    ...workspace,
    [`${chats}/s1.json`]: JSON.stringify(session([turn], { customTitle: "A fix" })),
  });
  const { sessions, unhandled, counts } = await parseAll(vscodeCopilot, host);
  expect(sessions).toEqual([
    {
      source: "vscode-copilot",
      sourceId: "s1",
      messages: [
        {
          role: "user",
          content: "Fix it",
          createdAt: at(60),
          metadata: {
            attachments: [
              { type: "file", name: "a.ts" },
              { type: "image/png", name: "shot.png" },
            ],
          },
        },
        {
          role: "assistant",
          content: "Hm.",
          createdAt: at(60),
          tokenCount: 50,
          metadata: { kind: "thinking", model: "claude-opus-4.5", usage: { inputTokens: 1000, outputTokens: 50 } },
        },
        { role: "assistant", content: "I look at `/code/a.ts`.", createdAt: at(60) },
        expect.objectContaining({
          metadata: {
            tool: { name: "read_file", callId: "call_1", input: { filePath: "/code/a.ts" }, content: "call" },
          },
        }),
        { role: "tool", content: "let a\n= 1", createdAt: at(60), metadata: { result: { callId: "call_1" } } },
        expect.objectContaining({
          metadata: {
            tool: { name: "run_in_terminal", callId: "call_2", input: { command: "npm test" }, content: "call" },
          },
        }),
        {
          role: "tool",
          content: "1 failed",
          createdAt: at(60),
          metadata: { result: { callId: "call_2", exitCode: 1 }, durationMs: 40 },
        },
        expect.objectContaining({
          metadata: { tool: { name: "mcp_x", callId: "uuid-3", input: { a: 1 }, content: "call" } },
        }),
        { role: "tool", content: "done", createdAt: at(60), metadata: { result: { callId: "uuid-3", isError: true } } },
        { role: "system", content: "Slow.", createdAt: at(60), metadata: { kind: "notice" } },
        { role: "assistant", content: "Fixed.", createdAt: at(90) },
      ],
      ending: {
        model: "claude-opus-4.5",
        title: "A fix",
        project: "my api",
        createdAt: at(0),
        metadata: { cwd: "/home/ada/code/my api", usage: { inputTokens: 1000, outputTokens: 50 } },
      },
    },
  ]);
  expect([counts, unhandled]).toEqual([{ entries: 2, skipped: 1, invalid: 0 }, ["response.dream"]]);
});

test("of copies of a session the latest is read, in one folder the log; all editors and windows are searched", async () => {
  const one = (text: string) => JSON.stringify(session([request(1, [answer(text)])]));
  const lines = (text: string) => toLines({ kind: 0, v: session([request(1, [answer(text)])]) });
  const files = {
    [`${user}/globalStorage/emptyWindowChatSessions/moved.jsonl`]: lines("old"),
    [`${chats}/both.json`]: one("older"),
    [`${chats}/both.jsonl`]: lines("log"),
    ".vscode-server/data/User/workspaceStorage/x/chatSessions/r.json": one("remote"),
    ".vscode-server/data/User/workspaceStorage/x/workspace.json": JSON.stringify({
      workspace: "vscode-remote://ssh-remote%2Bh/w/all.code-workspace",
    }),
    ".config/VSCodium/User/workspaceStorage/y/state.vscdb": "no chat",
  };
  const host = await makeHome(files);
  await writeBelow(host.home, `${chats}/moved.jsonl`, lines("new"));
  const { sessions } = await parseAll(vscodeCopilot, host);
  expect(
    sessions.map(({ sourceId, messages, ending }) => [sourceId, messages.at(-1)?.content, ending.project]).sort(),
  ).toEqual([
    ["both", "log", undefined],
    ["moved", "new", undefined],
    ["r", "remote", "all"],
  ]);
  const mac = await makeHome({
    "Library/Application Support/Code - Insiders/User/workspaceStorage/z/chatSessions/m.json": one("mac"),
  });
  expect((await parseAll(vscodeCopilot, { ...mac, platform: "darwin" })).sessions).toHaveLength(1);
  const roaming = await makeHome({ "AppData/Roaming/Code/User/workspaceStorage/z/chatSessions/w.json": one("win") });
  expect((await parseAll(vscodeCopilot, { ...roaming, platform: "win32" })).sessions).toHaveLength(1);
  const portable = await makeHome({ "p/user-data/User/workspaceStorage/z/chatSessions/p.json": one("portable") });
  expect(
    (await parseAll(vscodeCopilot, { ...portable, env: { VSCODE_PORTABLE: join(portable.home, "p") } })).sessions,
  ).toHaveLength(1);
});

test("calls without the model's ids go by their order; what was not shown is not lost", async () => {
  const rounds = [
    { toolCalls: [{ id: "a", name: "list_dir", arguments: "{}" }] },
    { response: "Done.", toolCalls: [] },
  ];
  const metadata = { toolCallRounds: rounds, toolCallResults: { a: { content: [{ value: "x.ts" }] } } };
  const requests = [
    request(1, [shownCall("uuid")], { result: { metadata } }),
    request(2, [], { result: { metadata } }),
    request(3, [], { result: { errorDetails: { message: "Rate limit" } } }),
  ];
  const host = await makeHome({ [`${chats}/s.json`]: JSON.stringify(session(requests)) });
  const { sessions } = await parseAll(vscodeCopilot, host);
  expect(sessions[0]?.messages.map(({ role, content, metadata }) => [role, metadata?.tool ? "call" : content])).toEqual(
    [
      ["user", "Question 1"],
      ["assistant", "call"],
      ["tool", "x.ts"],
      ["user", "Question 2"],
      ["assistant", "call"],
      ["tool", "x.ts"],
      ["user", "Question 3"],
      ["system", "Rate limit"],
    ],
  );
});

test("a question in parts is their text together, also where a part has none", async () => {
  const parts = [{ text: "Why does " }, { kind: "slash" }, { text: "it fail?" }];
  const asked = { ...turn, message: { parts } };
  const host = await makeHome({ ...workspace, [`${chats}/s1.json`]: JSON.stringify(session([asked])) });
  const { sessions } = await parseAll(vscodeCopilot, host);
  expect(sessions[0]?.messages[0]?.content).toBe("Why does it fail?");
});
