import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { aider } from "../../cli/adapters/aider/adapter.ts";
import { splitUserText } from "../../cli/adapters/blocks.ts";
import { readEnvironment, readFeedback } from "../../cli/adapters/cline/user-text.ts";
import { codex } from "../../cli/adapters/codex/adapter.ts";
import { crush } from "../../cli/adapters/crush/adapter.ts";
import { readUserText } from "../../cli/adapters/cursor/text.ts";
import { readExitCode, splitUserText as withReferences } from "../../cli/adapters/gemini/response-parts.ts";
import { kiro } from "../../cli/adapters/kiro/adapter.ts";
import { specstory } from "../../cli/adapters/specstory/adapter.ts";
import { maxWholeBytes } from "../../cli/files/line-reader.ts";
import { runTool } from "../../cli/install/tools.ts";
import { ProjectRules } from "../../cli/projects/rules.ts";
import { parseInput } from "../../cli/sessions/inputs.ts";
import { makeDatabase } from "./databases.ts";
import { discoverAll, makeHome, parseAll, toLines, writeBelow } from "./home.ts";
import { pushInside, worldInside } from "./inside.ts";

const settingsFile = ".config/spoor/settings.json";
const excluding = (glob: string) => JSON.stringify({ deviceId: "d", projects: [{ exclude: glob }] });

test("a session of a project that is left out is not sent in parts either, behind a wanted one of its file", async () => {
  const { home, host, fake } = await worldInside(0, { limits: { messagesPerTrace: 2 } });
  const one = (sourceId: string, project: string) => ({
    sourceId,
    project,
    messages: Array.from({ length: 5 }, (_, position) => ({ position, content: `${project} ${position}` })),
  });
  await writeBelow(
    home,
    ".local/share/spoor/jsonl/x.jsonl",
    toLines(one("a", "api"), one("b", "web"), one("c", "api")),
  );
  await writeBelow(home, settingsFile, excluding("web"));
  expect(await pushInside(host)).toMatchObject({ code: 0, sent: { sessions: 2 }, projectsLeftOut: 1 });
  expect([...fake.archive].toSorted()).toEqual([
    ["unknown/a", 5],
    ["unknown/c", 5],
  ]);
});

const crushSchema = `
  CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT, updated_at INTEGER, created_at INTEGER);
  CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts TEXT, model TEXT, created_at INTEGER,
    updated_at INTEGER);
  INSERT INTO sessions VALUES ('s1', NULL, 'Secret', 1793527200, 1793527200);
  INSERT INTO messages VALUES ('m1', 's1', 'user', '[{"type":"text","data":{"text":"Secret"}}]', 'm', 1793527200, 1793527200);`;

test("a link in a stranger's repository sends nothing of a project that is left out", async () => {
  const { home, host, fake } = await worldInside(0);
  const stranger = join(home, "code/stranger");
  await writeBelow(home, "code/secret/.specstory/history/a.md", "_**User**_\n\nSecret\n");
  await writeBelow(
    home,
    "code/secret/.aider.chat.history.md",
    "# aider chat started at 2026-11-01 10:00:00\n\nSecret\n",
  );
  makeDatabase(join(home, "code/secret/.crush/crush.db"), crushSchema).close();
  await mkdir(join(stranger, ".specstory"), { recursive: true });
  await symlink("../../secret/.specstory/history", join(stranger, ".specstory/history"));
  await symlink("../secret/.aider.chat.history.md", join(stranger, ".aider.chat.history.md"));
  await symlink("../secret/.crush", join(stranger, ".crush"));
  await writeBelow(home, ".local/share/crush/projects.json", JSON.stringify({ projects: [{ path: stranger }] }));
  await writeBelow(home, settingsFile, excluding("~/code/secret"));
  const found = await pushInside({ ...host, cwd: stranger });
  expect(found).toMatchObject({ code: 0, sent: { sessions: 0 } });
  expect(fake.uploads).toEqual([]);
  await writeBelow(home, settingsFile, "{}");
  expect((await pushInside({ ...host, cwd: stranger })).sent.sessions).toBe(3);
});

test("a folder in a session that is longer than any path is not looked for on this machine", async () => {
  const rules = new ProjectRules(await makeHome({ ".spoorignore": "" }), [{ exclude: "b" }]);
  expect(rules.findExclusion({ cwd: "/a".repeat(300_000) })).toBeUndefined();
  expect(rules.findExclusion({ cwd: `${"/a".repeat(300_000)}/b` })).toEqual({ glob: "b" });
});

const endless = "WITH RECURSIVE one(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM one)";

/** What is read of Crush's database after a change of it. */
async function readChanged(change: string) {
  const host = await makeHome();
  const folder = join(host.home, "code/api");
  await writeBelow(host.home, ".local/share/crush/projects.json", JSON.stringify({ projects: [{ path: folder }] }));
  makeDatabase(join(folder, ".crush/crush.db"), `${crushSchema} ${change}`).close();
  return parseAll(crush, host);
}

test("what an agent's database computes is not read, since it may never end", async () => {
  const view = `CREATE VIEW messages AS ${endless} SELECT x AS rowid, old.* FROM one, old`;
  await expect(readChanged(`ALTER TABLE messages RENAME TO old; ${view}`)).rejects.toThrow(/is prohibited/);
  const { sessions } = await readChanged("ALTER TABLE sessions ADD COLUMN more AS (hex(zeroblob(1000)))");
  expect(sessions).toHaveLength(1);
  const made = `ALTER TABLE messages ADD COLUMN parts AS ('[{"type":"text","data":{"text":"Made"}}]')`;
  const { sessions: none, counts } = await readChanged(`ALTER TABLE messages RENAME parts TO stored; ${made}`);
  expect([none, counts.invalid]).toEqual([[], 1]);
  await expect(readChanged("UPDATE sessions SET title = hex(zeroblob(34000000))")).rejects.toThrow(/too big/);
});

test("a message that is too long in a history of Aider is told, and the rest is read", async () => {
  const start = "# aider chat started at 2026-11-01 10:00:00\n\n#### Hi  \n";
  const host = await makeHome({
    ".aider.chat.history.md": `${start}${`${"a".repeat(1023)}\n`.repeat(maxWholeBytes / 1024 + 1)}#### Bye  \n`,
  });
  const { sessions, lost } = await parseAll(aider, host);
  expect(sessions[0]?.messages.map(({ content }) => content.slice(0, 3))).toEqual(["Hi", "aaa", "Bye"]);
  expect(lost).toEqual(["one of its messages is larger than 16 MiB"]);
});

test("small compressed files may not do together what a large one may not", async () => {
  const path = (number: number) =>
    `.codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-00000000-0000-4000-8000-00000000000${number}.jsonl.zst`;
  const bomb = zstdCompressSync(Buffer.alloc(8 << 20, `{"type":"x","payload":"${"x".repeat(60_000)}"}\n`));
  const host = await makeHome({ [path(1)]: bomb, [path(2)]: bomb });
  const inputs = await discoverAll(codex, host);
  const found = await Promise.all(inputs.map((input) => parseInput({ ...input, adapter: codex })));
  const told = "it can't be read: it is compressed, and would be larger than 4 MiB";
  expect(found.map(({ left }) => left.map(({ reason }) => reason))).toEqual([[told], [told]]);
});

test("a pipe among the logs that a session of Kiro names does not stop its reading", async () => {
  const editor = ".config/Kiro/User/globalStorage/kiro.kiroagent";
  const project = createHash("sha256").update("/code/web").digest("hex").slice(0, 32);
  const history = [{ message: { role: "user", content: "Build" } }];
  const session = { sessionId: "w-1", workspaceDirectory: "/code/web", history };
  const host = await makeHome({ [`${editor}/workspace-sessions/L2NvZGU/w-1.json`]: JSON.stringify(session) });
  await mkdir(join(host.home, editor, project, "414d"), { recursive: true });
  execFileSync("mkfifo", [join(host.home, editor, project, "414d/log")]);
  expect((await parseAll(kiro, host)).sessions).toHaveLength(1);
});

test("no program of the current folder is run in the place of the system's", async () => {
  const host = await makeHome();
  const path = await writeBelow(host.home, "code/stranger/systemctl", "#!/bin/sh\necho a stranger\n");
  await chmod(path, 0o755);
  const cwd = process.cwd();
  process.chdir(join(host.home, "code/stranger"));
  try {
    const ran = await runTool({ ...host, env: { PATH: "." } }, ["systemctl"]);
    expect(ran).toEqual({ code: undefined, output: "there is no systemctl" });
  } finally {
    process.chdir(cwd);
  }
});

test("a pipe in the place of a database's log does not stop its reading", async () => {
  const host = await makeHome();
  const { home } = host;
  const data = join(home, "code/stranger/.crush");
  makeDatabase(join(data, "crush.db"), crushSchema).close();
  execFileSync("mkfifo", [join(data, "crush.db-journal")]);
  await writeBelow(
    home,
    ".local/share/crush/projects.json",
    JSON.stringify({ projects: [{ path: data, data_dir: data }] }),
  );
  const [input] = await discoverAll(crush, host);
  const { left } = await parseInput({ ...(input as NonNullable<typeof input>), adapter: crush });
  expect(left).toMatchObject([{ reason: expect.stringContaining("crush.db-journal is not a file") }]);
});

test("texts of a stranger's that are made to take long are read in a time that grows with their length", async () => {
  const host = await makeHome();
  const { home } = host;
  const stranger = join(home, "stranger");
  await writeBelow(stranger, ".aider.chat.history.md", `# aider chat started at ${" ".repeat(300_000)}x\n`);
  const lines = [
    `# x ${" (2026-10-05".repeat(40_000)}`,
    "_**User (2026-10-05 10:00Z)**_",
    "",
    `${"~".repeat(300_000)}\``,
  ];
  await writeBelow(stranger, ".specstory/history/2026-10-05_10-00Z-x.md", lines.join("\n"));
  const here = { ...host, cwd: stranger };
  for (const adapter of [aider, specstory])
    for (const input of await discoverAll(adapter, here))
      expect(await parseInput({ ...input, adapter })).toMatchObject({ left: [] });
  const braces = `${"{a,b}".repeat(6)}{${",".repeat(4000)}`;
  await writeBelow(stranger, ".spoorignore", `${" ".repeat(30_000)}x\n${`${braces}\n`.repeat(7)}`);
  expect(new ProjectRules(host, []).findExclusion({ cwd: stranger })).toBeDefined();
  await writeBelow(stranger, ".spoorignore", `${braces}\n`.repeat(15));
  expect(new ProjectRules(host, []).findExclusion({ cwd: join(stranger, "a") })).toBeUndefined();
});

test.each([
  ["what Cline's user wrote", () => readFeedback("<task>".repeat(300_000), false).said],
  ["what Cline tells the model", () => readEnvironment("<environment_details>".repeat(100_000)).environment],
  ["a question of Cursor's user", () => readUserText("<user_query>".repeat(200_000)).map(({ role }) => role)],
  ["reminders", () => splitUserText("<system-reminder>".repeat(200_000)).map(({ role }) => role)],
  [
    "a command's end",
    () => readExitCode("run_shell_command", `${"\nExit Code: 0\nSignal: x".repeat(50_000)}${" ".repeat(300_000)}x`),
  ],
  ["files of Gemini's", () => withReferences(`${" ".repeat(300_000)}x`).map(({ role }) => role)],
])("%s in a text of a stranger's that never ends is looked for once", (_, read) => {
  expect([[], {}, ["user"], undefined]).toContainEqual(read());
});
