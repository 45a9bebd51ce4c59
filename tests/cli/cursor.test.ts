import { chmodSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Host } from "../../cli/adapters/adapter.ts";
import { cursor } from "../../cli/adapters/cursor/adapter.ts";
import { asked, at, converse, editor, type Fields, keyValue, put, said, start, talk, user } from "./cursor.ts";
import { countTokens, makeDatabase, tally } from "./databases.ts";
import { discoverAll, makeHome, parseAll, told } from "./home.ts";

const workspace = { id: "w1", uri: { fsPath: "/code/api", scheme: "file" } };

test("a conversation of the editor has its turns, calls with results, times, model, tokens and project", async () => {
  const host = await makeHome();
  const db = editor(host);
  converse(db, "c-1", talk, { workspaceIdentifier: workspace, modelConfig: { modelName: "gpt-5.2" } });
  const { sessions, counts, unhandled, lost } = await parseAll(cursor, host);
  db.close();
  expect(sessions).toEqual([
    {
      source: "cursor",
      sourceId: "c-1",
      messages: [
        { role: "user", content: "List the files.", createdAt: at(1), metadata: { uuid: "c-1-b0" } },
        {
          role: "assistant",
          content: "ls.",
          createdAt: at(2),
          metadata: { kind: "thinking", durationMs: 300, model: "gpt-5.2", uuid: "c-1-b1" },
        },
        {
          role: "assistant",
          content: "run_terminal_cmd\nls",
          createdAt: at(3),
          metadata: {
            tool: { name: "run_terminal_cmd", callId: "c1", input: { command: "ls" }, content: "call" },
            uuid: "c-1-b2",
          },
        },
        {
          role: "tool",
          content: "a.ts\n",
          createdAt: at(3),
          metadata: { result: { callId: "c1", exitCode: 0 } },
        },
        {
          role: "assistant",
          content: "One file.",
          createdAt: at(4),
          tokenCount: 7,
          metadata: { uuid: "c-1-b3", usage: { inputTokens: 100, outputTokens: 7 } },
        },
      ],
      ending: {
        model: "gpt-5.2",
        title: "List",
        project: "api",
        createdAt: at(0),
        metadata: { cwd: "/code/api", usage: { inputTokens: 100, outputTokens: 7 } },
      },
    },
  ]);
  expect([counts, unhandled, lost]).toEqual([{ entries: 5, skipped: 1, invalid: 0 }, [], []]);
});

test("a database is read while the editor writes, and only the conversation that changed gets another stamp", async () => {
  const host = await makeHome();
  const db = editor(host);
  for (const id of ["a", "b", "draft"]) converse(db, id, id === "draft" ? [] : talk);
  const before = await discoverAll(cursor, host);
  expect(before.map(({ path }) => path.split("#")[1])).toEqual(["a", "b"]);
  put(db, "bubbleId:b:b-b3", { ...said, text: "Two files" });
  const after = await discoverAll(cursor, host);
  expect(after.filter(({ stamp }, index) => stamp !== before[index]?.stamp).map(({ path }) => path)).toEqual([
    expect.stringMatching(/#b$/),
  ]);
  put(db, "ItemTable-like", {});
  expect(await discoverAll(cursor, host)).toEqual(after);
  const { sessions } = await parseAll(cursor, host);
  expect(sessions[1]?.messages.at(-1)?.content).toBe("Two files");
  db.close();
});

test("the account's tokens, which stand in the same database, are not read", async () => {
  const host = await makeHome();
  const db = editor(host);
  converse(db, "c", talk, { blobEncryptionKey: "a-secret" });
  db.exec("INSERT INTO ItemTable VALUES ('cursorAuth/accessToken', 'a-secret')");
  put(db, "agentKv:blob:1", "a-secret");
  const parsed = await parseAll(cursor, host);
  db.close();
  expect(parsed.sessions).toHaveLength(1);
  expect(JSON.stringify(parsed)).not.toContain("a-secret");
});

test("counts by kind and sums of tokens are those of the rows", async () => {
  const host = await makeHome();
  const db = editor(host);
  const turns = Array.from({ length: 40 }, () => talk).flat();
  converse(db, "long", turns);
  put(db, "bubbleId:long:taken-back", { type: 2, text: "Not listed" });
  const { sessions } = await parseAll(cursor, host);
  const rows = db.prepare(
    `SELECT json_extract(CAST(value AS TEXT), '$.type') AS type,
      json_extract(CAST(value AS TEXT), '$.toolFormerData.name') AS tool,
      json_extract(CAST(value AS TEXT), '$.tokenCount.outputTokens') AS tokens
    FROM cursorDiskKV WHERE key GLOB 'bubbleId:long:long-*'`,
  );
  const [own, tools, tokens] = [{ 1: 0, 2: 0 } as Record<number, number>, { count: 0 }, { sum: 0 }];
  for (const row of rows.iterate()) {
    own[Number(row.type)] = (own[Number(row.type)] ?? 0) + 1;
    if (row.tool) tools.count++;
    tokens.sum += Number(row.tokens ?? 0);
  }
  db.close();
  const found = tally(sessions[0]?.messages ?? []);
  expect(found).toEqual({ user: own[1], thinking: 40, assistant: 40, call: tools.count, result: tools.count });
  expect(countTokens(sessions[0]?.messages ?? [], "outputTokens")).toBe(tokens.sum);
});

test("older versions: bubbles in the conversation's row, tools apart from them, times of requests, workspaces' lists", async () => {
  const host = await makeHome({
    [`${user}/workspaceStorage/w9/workspace.json`]: '{"folder":"file:///code/old%20shop"}',
  });
  const db = editor(host);
  const tool = { tool: 7, name: "edit_file", status: "error", error: '{"clientVisibleErrorMessage":"No such file"}' };
  put(db, "composerData:old", {
    composerId: "old",
    createdAt: start,
    conversation: [
      {
        type: 1,
        bubbleId: "u",
        text: "",
        richText: '{"root":{"children":[{"type":"paragraph","children":[{"text":"Edit"}]}]}}',
      },
      {
        type: 2,
        bubbleId: "t",
        capabilityType: 15,
        timingInfo: { clientStartTime: 12.5, clientRpcSendTime: start + 5000 },
      },
    ],
    capabilities: [{ type: 15, data: { bubbleDataMap: JSON.stringify({ t: tool }) } }],
  });
  db.close();
  const listed = makeDatabase(join(host.home, user, "workspaceStorage/w9/state.vscdb"), keyValue);
  listed
    .prepare("INSERT INTO ItemTable VALUES ('composer.composerData', ?)")
    .run(JSON.stringify({ allComposers: [{ composerId: "old" }] }));
  listed.close();
  const { sessions } = await parseAll(cursor, host);
  expect(sessions[0]?.messages.map(({ role, content, createdAt }) => [role, content, createdAt])).toEqual([
    ["user", "Edit", undefined],
    ["assistant", "edit_file", at(5)],
    ["tool", "No such file", at(5)],
  ]);
  expect(sessions[0]?.ending).toMatchObject({ project: "old shop", metadata: { cwd: "/code/old shop" } });
});

test("a folder on a machine to which the editor connects is the project, too", async () => {
  const host = await makeHome({
    [`${user}/workspaceStorage/w8/workspace.json`]: '{"folder":"vscode-remote://wsl%2Bubuntu/home/ada/web%20shop"}',
  });
  const db = editor(host);
  converse(db, "remote", [asked]);
  db.close();
  const listed = makeDatabase(join(host.home, user, "workspaceStorage/w8/state.vscdb"), keyValue);
  const list = JSON.stringify({ allComposers: [{ composerId: "remote" }] });
  listed.prepare("INSERT INTO ItemTable VALUES ('composer.composerData', ?)").run(list);
  listed.close();
  const { sessions } = await parseAll(cursor, host);
  expect(sessions[0]?.ending).toMatchObject({ project: "web shop", metadata: { cwd: "/home/ada/web shop" } });
});

test("a conversation has the folder that the list of all conversations names for it", async () => {
  const host = await makeHome();
  const db = editor(host);
  converse(db, "listed", [asked]);
  const uri = { $mid: 1, fsPath: "/code/web", scheme: "file" };
  db.prepare("INSERT INTO ItemTable VALUES ('composer.composerHeaders', ?)").run(
    JSON.stringify({ allComposers: [{ composerId: "listed", workspaceIdentifier: { id: "w1", uri } }, null] }),
  );
  db.close();
  const { sessions } = await parseAll(cursor, host);
  expect(sessions[0]?.ending).toMatchObject({ project: "web", metadata: { cwd: "/code/web" } });
});

test("what was declined, cancelled, attached, injected or said by a sub-agent is told apart", async () => {
  const host = await makeHome();
  const db = editor(host);
  const tool = (more: Fields) => ({
    type: 2,
    toolFormerData: { tool: 1, name: "write", toolCallId: "w", params: '{"path":"a"}', ...more },
  });
  const chunk = { diffString: "- a\n+ b", oldStart: 1, oldLines: 1, newStart: 1, newLines: 1 };
  converse(
    db,
    "kinds",
    [
      {
        type: 1,
        text: "<attached_files>a.ts</attached_files>\n<user_query>\nLook\n</user_query>",
        context: { fileSelections: [{ uri: { fsPath: "/code/a.ts" } }], selectedImages: [{ path: "/tmp/x.png" }] },
      },
      tool({ status: "completed", userDecision: "rejected", result: '{"rejected":true}' }),
      tool({ status: "completed", result: JSON.stringify({ diff: { chunks: [chunk] } }) }),
      tool({ status: "cancelled" }),
      tool({ status: "loading" }),
      tool({
        name: "task_v2",
        status: "completed",
        result: '{"agentId":"sub"}',
        additionalData: { subagentComposerId: "sub" },
      }),
      { type: 2, toolFormerData: { additionalData: { status: "error" } } },
      { type: 2, text: "Hm", isThought: true },
      { type: 2, errorDetails: { message: "Connection lost" } },
      { type: 7, text: "?" },
    ],
    { createdOnBranch: "main" },
  );
  converse(db, "sub", [said], { subagentInfo: { parentComposerId: "kinds" } });
  const { sessions, unhandled, counts } = await parseAll(cursor, host);
  db.close();
  const [main, sub] = sessions;
  expect(told(main?.messages, ["kind", "result", "attachments"])).toEqual([
    ["user", "<attached_files>a.ts</attached_files>", "notice"],
    [
      "user",
      "Look",
      [
        { type: "file", name: "/code/a.ts" },
        { type: "image", name: "/tmp/x.png" },
      ],
    ],
    ["assistant", "write\na", undefined],
    ["tool", "User rejected the call.", { callId: "w" }],
    ["assistant", "write\na", undefined],
    ["tool", "", { callId: "w", patch: "@@ -1,1 +1,1 @@\n- a\n+ b" }],
    ["assistant", "write\na", undefined],
    ["tool", "Cancelled.", { callId: "w", isError: true }],
    ["assistant", "write\na", undefined],
    ["assistant", "task_v2\na", undefined],
    ["tool", '{"agentId":"sub"}', { callId: "w", session: "sub" }],
    ["assistant", "Hm", "thinking"],
    ["system", "Connection lost", "notice"],
  ]);
  expect(main?.ending.metadata).toMatchObject({ branch: "main" });
  expect(sub?.ending.metadata).toMatchObject({ parent: "kinds" });
  expect([unhandled, counts.invalid]).toEqual([["bubble.7"], 0]);
});

test.skipIf(process.getuid?.() === 0)("a database that nobody may write beside is read, too", async () => {
  const host = await makeHome();
  const db = editor(host);
  converse(db, "still", talk);
  db.close();
  const folder = join(host.home, user, "globalStorage");
  chmodSync(folder, 0o500);
  const { sessions } = await parseAll(cursor, host);
  chmodSync(folder, 0o700);
  expect(sessions.map(({ sourceId }) => sourceId)).toEqual(["still"]);
});

test("it looks in the folders of each system, and where CURSOR_DATA_DIR says", async () => {
  const host = await makeHome();
  const paths = (more: Partial<Host>) =>
    cursor.getSearchRoots({ ...host, home: "/h", ...more }).map(({ path }) => path);
  expect(paths({})).toEqual([
    "/h/.config/Cursor/User/globalStorage",
    "/h/.cursor/chats",
    "/h/.cursor/acp-sessions",
    "/h/.cursor/projects",
  ]);
  expect(paths({ platform: "darwin" })[0]).toBe("/h/Library/Application Support/Cursor/User/globalStorage");
  expect(paths({ platform: "win32", env: { APPDATA: "/h/Roaming" } })[0]).toBe("/h/Roaming/Cursor/User/globalStorage");
  expect(cursor.getSearchRoots({ ...host, env: { CURSOR_DATA_DIR: "/d" } })[1]).toEqual({
    path: "/d/chats",
    variable: "CURSOR_DATA_DIR",
  });
});
