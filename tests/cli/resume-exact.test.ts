import { chmod, mkdir, open, readdir, readFile, realpath, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import type { Host } from "../../cli/adapters/adapter.ts";
import { claudeCode } from "../../cli/adapters/claude-code/adapter.ts";
import { codex } from "../../cli/adapters/codex/adapter.ts";
import { resume } from "../../cli/commands/resume.ts";
import type { Context } from "../../cli/context.ts";
import { decodeHead, encodeHead } from "../../cli/originals/format.ts";
import { createIdentity } from "../../cli/originals/keys.ts";
import { isOlder } from "../../cli/resume/agents.ts";
import { checkPaths } from "../../cli/resume/paths.ts";
import { nameClaudeProject } from "../../cli/resume/places.ts";
import { restoreFiles } from "../../cli/resume/restore-files.ts";
import { startCopies } from "./copies.ts";
import { parseAll, toLines, writeBelow } from "./home.ts";
import { runInside } from "./inside.ts";
import { claudeLines, codexLines } from "./sessions.ts";

const id = "6f1c0000-0000-4000-8000-000000000001";
/** Bytes that a text or JSON would not bring back: an escaped lone surrogate, a NUL, a number, no end of line. */
const odd = `{"type":"user","n":1.0,"text":"\\ud800 \\u0000 /home/ada/api"}\n{"open":`;
const claudeFiles = {
  [`projects/-home-ada-api/${id}.jsonl`]: [toLines(...claudeLines(id, 2)), odd],
  [`projects/-home-ada-api/${id}/subagents/agent-a1.jsonl`]: "sub-agent\n",
  [`projects/-home-ada-api/${id}/tool-results/b.txt`]: Buffer.from([0, 255, 10]),
};
const whole = toLines(...claudeLines(id, 2)) + odd;

async function back(host: Host, words: string[] = [id], values: Context["values"] = {}) {
  const { code, output, errors, message } = await runInside(resume, host, { words, values: { json: true, ...values } });
  return { code, errors, message, ...(output ? JSON.parse(output) : {}) };
}

/** Puts a program on the host's path that says a version, and notes how it was started. */
async function install(host: Host, command: string, version: string) {
  const path = await writeBelow(
    host.home,
    `bin/${command}`,
    `#!/bin/sh\n[ "$1" = --version ] && echo "${version} (x)" && exit\nprintf '%s\\n' "$PWD" "$@" > "$HOME/started"\nexit 7\n`,
  );
  await chmod(path, 0o755);
  host.env.PATH = `${join(host.home, "bin")}:${process.env.PATH}`;
  host.env.HOME = host.home;
}

async function listAll(folder: string, below = ""): Promise<string[]> {
  const entries = await readdir(join(folder, below), { withFileTypes: true });
  const nested = await Promise.all(
    entries.map((entry) => {
      const path = below ? `${below}/${entry.name}` : entry.name;
      return entry.isDirectory() ? listAll(folder, path) : [path];
    }),
  );
  return nested.flat().sort();
}

async function world(files: Parameters<Awaited<ReturnType<typeof startCopies>>["makeHome"]>[0] = {}) {
  const server = await startCopies();
  await server.add({ agent: "claude-code", sourceId: id, agentVersion: "2.1.300" }, claudeFiles);
  const host = await server.makeHome(files);
  host.cwd = join(await realpath(host.home), "work", "my api");
  await mkdir(host.cwd, { recursive: true });
  const project = nameClaudeProject(host.cwd);
  return { server, host, project, main: join(host.home, ".claude/projects", project, `${id}.jsonl`) };
}

test("a Claude Code session comes back byte for byte, for the folder one is in", async () => {
  const { host, project, main } = await world();
  await install(host, "claude", "2.1.332");
  const { code, files, command, notes } = await back(host);
  expect([code, command, notes]).toEqual([0, ["claude", "--resume", id], []]);
  expect(files.map((file: { wrote: string }) => file.wrote)).toEqual(["new", "new", "new"]);
  expect(await listAll(join(host.home, ".claude"))).toEqual([
    `projects/${project}/${id}.jsonl`,
    `projects/${project}/${id}/subagents/agent-a1.jsonl`,
    `projects/${project}/${id}/tool-results/b.txt`,
  ]);
  expect(await readFile(main, "utf8")).toBe(whole);
  expect([...(await readFile(join(host.home, ".claude/projects", project, id, "tool-results/b.txt")))]).toEqual([
    0, 255, 10,
  ]);
});

test("Spoor reads a restored session as the one that it has, so that pushing it again adds nothing", async () => {
  const server = await startCopies();
  const thread = "0199aaaa-0000-7000-8000-000000000001";
  const main = `projects/-home-ada-api/${id}.jsonl`;
  const rollout = `sessions/2026/11/01/rollout-2026-11-01T10-00-00-${thread}.jsonl`;
  const texts = { [main]: toLines(...claudeLines(id, 3)), [rollout]: toLines(...codexLines(thread, 3)) };
  const before = await server.makeHome({
    [`.claude/${main}`]: texts[main] ?? "",
    [`.codex/${rollout}`]: texts[rollout] ?? "",
  });
  await server.add({ agent: "claude-code", sourceId: id }, { [main]: texts[main] ?? "" });
  await server.add({ agent: "codex-cli", sourceId: thread }, { [rollout]: texts[rollout] ?? "" });
  const host = await server.makeHome();
  for (const one of [id, thread]) expect((await back(host, [one])).code).toBe(0);
  for (const adapter of [claudeCode, codex]) {
    const { sessions } = await parseAll(adapter, host);
    expect(sessions).toHaveLength(1);
    expect(sessions).toEqual((await parseAll(adapter, before)).sessions);
  }
});

test("restoring twice changes nothing, nor does a file that went on but with --force", async () => {
  const { host, main } = await world();
  await back(host);
  expect((await back(host)).files.map(({ wrote }: { wrote: string }) => wrote)).toEqual(["same", "same", "same"]);
  await writeFile(main, `${whole}and more\n`);
  expect((await back(host)).files.at(-1).wrote).toBe("kept");
  expect(await readFile(main, "utf8")).toBe(`${whole}and more\n`);
  const forced = await back(host, [id], { force: true });
  const { setAside } = forced.files.at(-1);
  expect(forced.files.at(-1).wrote).toBe("replaced");
  expect(await readFile(main, "utf8")).toBe(whole);
  expect(await readFile(setAside, "utf8")).toBe(`${whole}and more\n`);
  // Claude Code takes every *.jsonl for a session.
  expect(setAside).not.toMatch(/\.jsonl$/);
});

test("a different file is not written over, and nothing else is written then", async () => {
  const { host, main } = await world();
  for (const other of [`${whole.slice(0, -1)}x`, `x${whole.slice(1)}and more\n`]) {
    await mkdir(join(main, ".."), { recursive: true });
    await writeFile(main, other);
    const { code, message } = await back(host);
    expect([code, message]).toEqual([1, expect.stringContaining("already there")]);
    expect(await readFile(main, "utf8")).toBe(other);
    expect(await listAll(join(host.home, ".claude"))).toHaveLength(1);
  }
});

test("a file that is the beginning of the copy goes on, and another short one is kept", async () => {
  const { host, main } = await world({});
  await mkdir(join(main, ".."), { recursive: true });
  await writeFile(main, whole.slice(0, 500));
  expect((await back(host)).files.at(-1).wrote).toBe("continued");
  expect(await readFile(main, "utf8")).toBe(whole);
  await writeFile(main, `x${whole.slice(1, 500)}`);
  expect((await back(host)).message).toContain("already there");
  expect(await readFile(main, "utf8")).toBe(`x${whole.slice(1, 500)}`);
  expect((await readdir(join(host.home, ".claude"))).sort()).toEqual(["projects"]);
});

test("an agent that has the file open goes on with the file that was continued", async () => {
  const { host, main } = await world({});
  await mkdir(join(main, ".."), { recursive: true });
  await writeFile(main, whole.slice(0, 500));
  const agent = await open(main, "a");
  expect((await back(host)).files.at(-1).wrote).toBe("continued");
  await agent.appendFile("its next line\n");
  await agent.close();
  expect(await readFile(main, "utf8")).toBe(`${whole}its next line\n`);
});

test("a copy with more than the disk has is refused before anything is written", async () => {
  const { host } = await world({});
  const home = join(host.home, ".claude");
  const read = () => Readable.from([]);
  const file = { path: "projects/a/b.jsonl", bytes: 2 ** 52, sha256: "0".repeat(64), read };
  await expect(restoreFiles(home, [file])).rejects.toThrow("too much for this disk");
  expect(await readdir(home)).toEqual([]);
});

test("a head whose parts are no hashes is none", async () => {
  const { server, host } = await world({});
  const [copy] = server.copies;
  const head = await decodeHead(Buffer.from(copy?.head ?? "", "base64"), server.identity.secret);
  for (const { parts } of head.files) for (const part of parts) part.sha256 = "../../traces";
  const sealed = await encodeHead(head, server.identity.recipient);
  if (copy) copy.head = Buffer.from(sealed).toString("base64");
  expect((await back(host)).message).toContain("a format that this client does not know");
});

test("a session that is in another project's folder stays there: in two, Claude Code finds it in none", async () => {
  const { host } = await world({ [`.claude/projects/-elsewhere/${id}.jsonl`]: whole });
  const { code, files } = await back(host);
  expect([code, files.at(-1)]).toMatchObject([0, { path: `projects/-elsewhere/${id}.jsonl`, wrote: "same" }]);
  expect(files[0].path).toBe(`projects/-elsewhere/${id}/subagents/agent-a1.jsonl`);
});

test("nothing is restored of a copy that is damaged, lacks a part, or is another session's", async () => {
  const { server, host } = await world();
  const kept = new Map(server.parts);
  for (const change of ["cut", "gone", "swapped"] as const) {
    const [[first = "", bytes = Buffer.alloc(0)] = [], [, other = Buffer.alloc(0)] = []] = [...kept];
    if (change === "gone") server.parts.delete(first);
    else server.parts.set(first, change === "cut" ? bytes.subarray(0, -1) : other);
    const { code, message } = await back(host);
    expect([change, code, message]).toEqual([change, 1, expect.stringContaining("Nothing was restored")]);
    server.parts.set(first, bytes);
  }
  await server.add({ agent: "claude-code", sourceId: "other" }, {});
  const [own, other] = server.copies;
  if (own && other) own.head = other.head;
  expect((await back(host)).message).toContain("another session");
  expect(await listAll(join(host.home, ".claude")).catch(() => [])).toEqual([]);
});

test("a machine without the key, or with another one, says which key it takes", async () => {
  const { server } = await world();
  const without = await server.makeHome({}, null as never);
  expect((await back(without)).message).toMatch(/no key.*originals key import/);
  const other = await server.makeHome({}, await createIdentity());
  expect((await back(other)).message).toMatch(/needs the key [0-9A-F]{4} [0-9A-F]{4}, but this machine has/);
});

const hostile = [
  "../outside.jsonl",
  "projects/../../outside.jsonl",
  `projects/-a/${id}/subagents/../../../../settings.json`,
  "/etc/passwd",
  "C:/outside",
  `projects\\-a\\${id}.jsonl`,
  `projects/-a/${id}.jsonl\0`,
  `projects//${id}.jsonl`,
  `projects/./${id}.jsonl`,
  "settings.json",
  "projects/-a/other.jsonl",
  `projects/-a/${id}/hooks/run.sh`,
  `projects/-a/${id}/subagents/con`,
  `projects/-a/${id}/subagents/CONOUT$`,
  `projects/-a/${id}/subagents/com\u00b9.txt`,
  `projects/-a/${id}/subagents/a.`,
  `projects/-a/${id}/subagents/a\u202e.txt`,
  `projects/-a/${id}/subagents/${"a".repeat(300)}`,
  `projects/-a/${id}/subagents/${"a/".repeat(3000)}a`,
];

test.each(hostile)("a head that names %j writes nothing", async (path) => {
  const { server, host } = await world();
  server.copies.length = 0;
  await server.add({ agent: "claude-code", sourceId: id }, { ...claudeFiles, [path]: "hostile" });
  const before = await listAll(host.home);
  const { code, message } = await back(host);
  expect([code, message]).toEqual([
    1,
    expect.stringMatching(/nothing was restored|format that this client does not know/i),
  ]);
  expect(await listAll(host.home)).toEqual(before);
});

test("two paths that some file systems take for one are refused", () => {
  const yes = () => true;
  expect(() => checkPaths(["a/B.txt", "a/b.txt"], yes)).toThrow("twice");
  expect(() => checkPaths(["a/\u00e9", "a/e\u0301"], yes)).toThrow("twice");
  expect(() => checkPaths(["a/stra\u00dfe", "A/STRASSE"], yes)).toThrow("twice");
  expect(() => checkPaths(["a/b", "A/B/c"], yes)).toThrow("folder");
  expect(() => checkPaths(["a/b", "a/c/d"], yes)).not.toThrow();
});

test.each([".claude/projects", `.claude/projects/PROJECT`, `.claude/projects/PROJECT/${id}`])(
  "nothing is written behind a link at %s",
  async (place) => {
    const { host, project } = await world();
    const outside = join(host.home, "outside");
    await mkdir(outside);
    const link = join(host.home, place.replace("PROJECT", project));
    await mkdir(join(link, ".."), { recursive: true });
    await symlink(outside, link);
    const { code, message } = await back(host, [id], { force: true });
    expect([code, message]).toEqual([1, expect.stringContaining("is a link")]);
    expect(await readdir(outside)).toEqual([]);
  },
);

test("a link at the file itself is not followed, with --force neither", async () => {
  const { host, main } = await world();
  const outside = await writeBelow(host.home, "outside.txt", "mine");
  await mkdir(join(main, ".."), { recursive: true });
  await symlink(outside, main);
  expect((await back(host, [id], { force: true })).message).toContain("is a link");
  expect(await readFile(outside, "utf8")).toBe("mine");
});

test("the agent's folder itself may be a link, or be named by its variable", async () => {
  const { host, project } = await world();
  await mkdir(join(host.home, "dotfiles"));
  await symlink(join(host.home, "dotfiles"), join(host.home, ".claude"));
  expect((await back(host)).code).toBe(0);
  expect(await listAll(join(host.home, "dotfiles"))).toContain(`projects/${project}/${id}.jsonl`);
  host.env.CLAUDE_CONFIG_DIR = join(host.home, "config");
  expect((await back(host)).code).toBe(0);
  expect(await listAll(join(host.home, "config"))).toContain(`projects/${project}/${id}.jsonl`);
});

test("an agent older than the writer is refused but for --any-version, and a missing one is told", async () => {
  const { host } = await world();
  host.env.PATH = "/nowhere";
  expect((await back(host)).notes).toEqual(["Claude Code (claude) was not found on the PATH."]);
  await install(host, "claude", "2.1.299");
  const refused = await back(host);
  expect([refused.code, refused.message]).toEqual([1, expect.stringContaining("2.1.299 here, older than the 2.1.300")]);
  expect(await back(host, [id], { "any-version": true })).toMatchObject({
    code: 0,
    notes: [expect.stringContaining("older")],
  });
  expect([isOlder("2.1.9", "2.1.10"), isOlder("3.0.0", "2.9.9"), isOlder("2.1.1", "2.1.1")]).toEqual([
    true,
    false,
    false,
  ]);
});

test("--run starts the agent in this folder and ends with its exit code", async () => {
  const { host } = await world();
  await install(host, "claude", "2.1.332");
  const { code } = await runInside(resume, host, { words: [id], values: { run: true } });
  expect(code).toBe(7);
  expect(await readFile(join(host.home, "started"), "utf8")).toBe(`${host.cwd}\n--resume\n${id}\n`);
});

test("a Codex rollout comes back to its day's folder, and a Gemini recording to the project of this folder", async () => {
  const { server, host } = await world();
  const thread = "0199aaaa-0000-7000-8000-000000000001";
  const rollout = `sessions/2026/11/01/rollout-2026-11-01T10-00-00-${thread}.jsonl`;
  await server.add({ agent: "codex-cli", sourceId: thread }, { [rollout]: odd });
  await server.add(
    { agent: "gemini-cli", sourceId: "g1" },
    { "tmp/old/chats/session-2026-11-01T10-00-abcdef12.jsonl": odd },
  );
  expect(await back(host, [thread])).toMatchObject({ code: 0, command: ["codex", "resume", thread] });
  expect(await readFile(join(host.home, ".codex", rollout), "utf8")).toBe(odd);
  await writeBelow(host.home, ".gemini/projects.json", JSON.stringify({ projects: { [host.cwd]: "my-api" } }));
  expect((await back(host, ["g1"])).code).toBe(0);
  const recording = ".gemini/tmp/my-api/chats/session-2026-11-01T10-00-abcdef12.jsonl";
  expect(await readFile(join(host.home, recording), "utf8")).toBe(odd);
});

test("sessions are listed, found by words, and picked with the arrow keys", async () => {
  const { server, host } = await world();
  await server.add({ agent: "codex-cli", sourceId: "0199aaaa-1" }, {}, "Mend the retry timer");
  const listed = await back(host, []);
  expect(listed.sessions.map(({ sourceId }: { sourceId: string }) => sourceId)).toEqual([id, "0199aaaa-1"]);
  const table = await runInside(resume, host);
  expect(table.output).toContain("Mend the retry timer");
  expect((await back(host, ["RETRY", "timer"])).message).toContain("has no files");
  expect((await back(host, [], { source: ["claude-code"] })).sessions).toHaveLength(1);
  expect((await back(host, ["nothing", "such"])).message).toMatch(/no exact copy of "nothing such".*--clean/);
  server.denied.originals = true;
  expect((await back(host)).message).toContain("--scopes ingest,read,originals");
});
