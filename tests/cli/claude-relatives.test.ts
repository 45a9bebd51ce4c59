import { join } from "node:path";
import { expect, test } from "vitest";
import { iflow, openclaude } from "../../cli/adapters/claude-code/relatives.ts";
import { cowork } from "../../cli/adapters/cowork/adapter.ts";
import { trae } from "../../cli/adapters/trae/adapter.ts";
import { findUnreadable } from "../../cli/adapters/unreadable.ts";
import { call, id, Lines, otherId, text } from "./claude-lines.ts";
import { makeDatabase } from "./databases.ts";
import { discoverAll, makeHome, parseAll, toLines, writeBelow } from "./home.ts";
import { codexLines } from "./sessions.ts";

const coworkFolder = ".config/Claude/local-agent-mode-sessions/org/space/local_1";
const meta = {
  sessionId: "local_1",
  cliSessionId: id,
  title: "Sort the receipts",
  createdAt: Date.parse("2026-11-01"),
};

test("Cowork's sessions have the program's titles and the user's folder; what the agent made is not searched", async () => {
  const make = new Lines({ cwd: "/sessions/quiet-otter" });
  const agent = { isSidechain: true };
  const host = await makeHome({
    [`${coworkFolder}.json`]: JSON.stringify({ ...meta, userSelectedFolders: ["/home/ada/receipts"] }),
    [`${coworkFolder}/.claude/projects/-x/${id}.jsonl`]: toLines(
      make.said("Sort them"),
      { type: "ai-title", aiTitle: "Made" },
      make.answered(call("t1", "ls")),
      make.result("t1", "a.pdf", { toolUseResult: { agentId: "ab12" } }),
    ),
    [`${coworkFolder}/.claude/projects/-x/${id}/subagents/agent-ab12.jsonl`]: toLines(make.said("Inner", agent)),
    [`${coworkFolder}/outputs/data.jsonl`]: toLines({ type: "user" }),
    [`${coworkFolder}/audit.jsonl`]: toLines({ type: "user" }),
    ".config/Claude/local-agent-mode-sessions/skills-plugin/a/.claude/projects/x.jsonl": toLines(make.said("No")),
    [`.config/Claude/local-agent-mode-sessions/org/space/agent/local_2/.claude/projects/-y/${otherId}.jsonl`]: toLines(
      make.said("No folder", { sessionId: otherId }),
    ),
  });
  const { sessions, unhandled } = await parseAll(cowork, host);
  const told = sessions.map(({ source, sourceId, messages, ending }) => {
    const { cwd, parent } = ending.metadata as { cwd?: string; parent?: string };
    return [source, sourceId, ending.title, ending.project, cwd, parent, messages.length];
  });
  expect(told.sort()).toEqual([
    ["cowork", id, "Sort the receipts", "receipts", "/home/ada/receipts", undefined, 3],
    ["cowork", `${id}/agent-ab12`, undefined, "receipts", "/home/ada/receipts", id, 1],
    ["cowork", otherId, undefined, undefined, "/sessions/quiet-otter", undefined, 1],
  ]);
  expect(unhandled).toEqual([]);
  const stamps = async () => (await discoverAll(cowork, host)).map(({ stamp }) => stamp);
  const before = await stamps();
  await writeBelow(host.home, `${coworkFolder}.json`, JSON.stringify({ ...meta, title: "Receipts of November" }));
  expect((await stamps()).filter((stamp) => !before.includes(stamp))).toHaveLength(2);
});

test("Cowork is searched where each system keeps a program's data", async () => {
  const host = await makeHome();
  const roots = (platform: NodeJS.Platform, env = {}) =>
    cowork.getSearchRoots({ ...host, platform, env }).map(({ path }) => path.slice(host.home.length + 1));
  const name = "Claude/local-agent-mode-sessions";
  expect(roots("linux")).toEqual([`.config/${name}`]);
  expect(roots("darwin")).toEqual([`Library/Application Support/${name}`]);
  expect(roots("win32")).toEqual([
    `AppData/Roaming/${name}`,
    `AppData/Local/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/${name}`,
  ]);
});

test("iFlow's repeated calls count once, and its outputs are read in each of their shapes", async () => {
  const name = `session-${id}`;
  const make = new Lines({ sessionId: name, version: "1.0.0", gitBranch: null, cwd: "C:\\code\\api" });
  const use = (callId: string) => ({ type: "tool_use", id: callId, name: "read_file", input: { path: callId } });
  const answered = (messageId: string, ...content: unknown[]) =>
    make.answered(content, { id: messageId, model: "glm-4.7", usage: { input_tokens: 0, output_tokens: 0 } });
  const functionResponse = (response: object) => ({ functionResponse: { id: "x", name: "read_file", response } });
  const host = await makeHome({
    [`.iflow/projects/-C-code-api/${name}.jsonl`]: toLines(
      make.said("Read them"),
      answered("r1", ...text("I read."), use("one")),
      answered("r2", use("one"), use("two")),
      answered("r3", use("two"), use("three")),
      answered("r4", use("three")),
      make.result("one", { callId: "one", responseParts: functionResponse({ output: "1" }), resultDisplay: "Read" }),
      make.result("two", functionResponse({ error: "gone" }), { toolUseResult: { status: "error" } }),
      make.result("three", {
        responseParts: [functionResponse({ output: "3a" }), functionResponse({ output: "3b" })],
        resultDisplay: { fileDiff: "@@ -1 +1 @@", fileName: "a" },
      }),
      make.result("four", { sound: "loud" }),
      answered("r5", ...text("Done.")),
    ),
    ".iflow/projects/-C-code-api/notes.jsonl": toLines(make.said("No session")),
  });
  const { sessions, unhandled, counts } = await parseAll(iflow, host);
  expect(sessions).toHaveLength(1);
  expect(sessions[0]?.messages.map(({ role, content }) => [role, content])).toEqual([
    ["user", "Read them"],
    ["assistant", "I read."],
    ["assistant", "read_file\none"],
    ["assistant", "read_file\ntwo"],
    ["assistant", "read_file\nthree"],
    ["tool", "1"],
    ["tool", "gone"],
    ["tool", "3a\n3b"],
    ["tool", ""],
    ["assistant", "Done."],
  ]);
  expect(sessions[0]?.messages[6]?.metadata?.result).toEqual({ callId: "two", isError: true });
  expect(sessions[0]?.messages[7]?.metadata?.result).toEqual({ callId: "three", patch: "@@ -1 +1 @@" });
  expect(sessions[0]).toMatchObject({ source: "iflow", sourceId: name, ending: { model: "glm-4.7", project: "api" } });
  expect(sessions[0]?.ending.metadata).not.toHaveProperty("usage");
  expect([unhandled, counts]).toEqual([["tool_result.(none)"], { entries: 10, skipped: 0, invalid: 0 }]);
});

test("Trae CLI's rollouts are its own sessions, and the editor's folder is named", async () => {
  const host = await makeHome({
    [`.trae/cli/sessions/2026/11/01/rollout-2026-11-01T10-00-00-${id}.jsonl`]: toLines(...codexLines(id, 2)),
    ".config/Trae/ModularData/ai-agent/database.db": "not a database",
  });
  const { sessions } = await parseAll(trae, host);
  expect(sessions.map(({ source, sourceId, ending }) => [source, sourceId, ending.project])).toEqual([
    ["trae", id, "web"],
  ]);
  expect(await findUnreadable(host)).toEqual([
    {
      name: "trae-editor",
      title: "Trae's editor",
      path: join(host.home, ".config/Trae/ModularData/ai-agent"),
      why: "it encrypts them",
    },
  ]);
});

test("conversations that older versions of Trae's editor kept in the open are read", async () => {
  const host = await makeHome({
    ".config/Trae/User/workspaceStorage/w1/workspace.json": JSON.stringify({ folder: "file:///home/ada/code/api" }),
  });
  const database = makeDatabase(
    join(host.home, ".config/Trae/User/workspaceStorage/w1/state.vscdb"),
    "CREATE TABLE ItemTable (key TEXT PRIMARY KEY, value TEXT)",
  );
  const at = Date.parse("2026-11-01T10:00:00Z");
  const list = [
    {
      sessionId: "one",
      createdAt: at,
      model: "m",
      messages: [
        { role: "user", content: "Mend it", timestamp: at / 1000 },
        { role: "assistant", content: "", agentTaskContent: { guideline: { planItems: [{ content: "Plan" }] } } },
        { role: "oracle", content: "Beware" },
        7,
      ],
    },
    { sessionId: "empty", messages: [] },
    "odd",
  ];
  const write = database.prepare("INSERT INTO ItemTable VALUES (?, ?)");
  write.run("memento/icube-ai-agent-storage", JSON.stringify({ list }));
  write.run("memento/other", "{");
  // A small reading of the same value, in SQL.
  const counted = database
    .prepare(
      `SELECT count(*) AS n FROM (SELECT value FROM ItemTable WHERE key LIKE '%icube%') AS store,
        json_each(store.value, '$.list') AS one, json_each(one.value, '$.messages') AS message
      WHERE one.type = 'object' AND message.type = 'object' AND message.value ->> 'role' IN ('user', 'assistant')`,
    )
    .get();
  const { sessions, counts, unhandled } = await parseAll(trae, host);
  database.close();
  expect(sessions[0]?.messages).toHaveLength(Number(counted?.n));
  expect(sessions).toEqual([
    {
      source: "trae",
      sourceId: "one",
      messages: [
        { role: "user", content: "Mend it", createdAt: "2026-11-01T10:00:00.000Z" },
        { role: "assistant", content: "Plan" },
      ],
      ending: {
        model: "m",
        project: "api",
        createdAt: "2026-11-01T10:00:00.000Z",
        metadata: { cwd: "/home/ada/code/api" },
      },
    },
  ]);
  expect([counts, unhandled]).toEqual([{ entries: 4, skipped: 1, invalid: 1 }, ["role.oracle"]]);
});

test("OpenClaude's sessions are read as Claude Code's, under their own name, also where a variable says", async () => {
  const make = new Lines({ cwd: "/home/ada/code/web" });
  const usage = { input_tokens: 10, output_tokens: 4, cache_read_input_tokens: 90 };
  const lines = toLines(make.said("Look"), make.answered([...text("I look."), ...call("t1", "ls")], { usage }), {
    type: "custom-title",
    customTitle: "A look",
  });
  const host = await makeHome({
    [`.openclaude/projects/-x/${id}.jsonl`]: lines,
    [`own/projects/-x/${otherId}.jsonl`]: lines,
  });
  const { sessions, unhandled } = await parseAll(openclaude, host);
  expect(sessions.map(({ source, sourceId, messages, ending }) => [source, sourceId, messages.length, ending])).toEqual(
    [
      [
        "openclaude",
        id,
        3,
        expect.objectContaining({
          title: "A look",
          project: "web",
          metadata: expect.objectContaining({
            cwd: "/home/ada/code/web",
            usage: { inputTokens: 10, outputTokens: 4, cacheReadTokens: 90 },
          }),
        }),
      ],
    ],
  );
  expect(unhandled).toEqual([]);
  const elsewhere = { ...host, env: { OPENCLAUDE_CONFIG_DIR: join(host.home, "own") } };
  expect((await discoverAll(openclaude, elsewhere)).map(({ path }) => path)).toEqual([
    join(host.home, `own/projects/-x/${otherId}.jsonl`),
  ]);
});
