import { appendFile, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import { expect, test } from "vitest";
import type { Host } from "../../cli/adapters/adapter.ts";
import { originals } from "../../cli/commands/originals.ts";
import type { Context } from "../../cli/context.ts";
import { readGit } from "../../cli/originals/git.ts";
import { readIdentity, writeIdentity } from "../../cli/originals/keys.ts";
import { SessionFilter } from "../../cli/sessions/filter.ts";
import { pushOnce } from "../../cli/sync/push-round.ts";
import { openTarget } from "../../cli/sync/push-target.ts";
import { openCopy } from "../support/originals.ts";
import { makeDatabase } from "./databases.ts";
import { makeHome, toLines, writeBelow } from "./home.ts";
import { addMachine, pushInside, runInside, worldWithCopies } from "./inside.ts";
import { claudeLines, codexLines } from "./sessions.ts";
import { claudePath, makeId } from "./world.ts";

const opencodeSchema = `
  CREATE TABLE project (id TEXT PRIMARY KEY, worktree TEXT);
  CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, workspace_id TEXT, parent_id TEXT, slug TEXT, directory TEXT,
    path TEXT, title TEXT, version TEXT, share_url TEXT, summary_additions INTEGER, summary_deletions INTEGER,
    summary_files INTEGER, summary_diffs TEXT, metadata TEXT, cost REAL, tokens_input INTEGER, tokens_output INTEGER,
    tokens_reasoning INTEGER, tokens_cache_read INTEGER, tokens_cache_write INTEGER, revert TEXT, permission TEXT,
    agent TEXT, model TEXT, time_created INTEGER, time_updated INTEGER, time_compacting INTEGER, time_archived INTEGER);
  CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
  CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER,
    data TEXT);
  INSERT INTO project VALUES ('p1', '/code/api');`;

test("OpenCode's sessions are copied as its export prints them, with sub-agents and the rows' JSON as it is", async () => {
  const { fake, host, home, secret } = await worldWithCopies();
  const db = makeDatabase(join(home, ".local/share/opencode/opencode.db"), opencodeSchema);
  const session = db.prepare(`INSERT INTO session (id, project_id, parent_id, slug, directory, title, version, cost,
    tokens_input, tokens_output, tokens_reasoning, tokens_cache_read, tokens_cache_write, summary_additions, model,
    time_created, time_updated) VALUES (?, 'p1', ?, 'moon', '/code/api', 'Try', '1.18.33', 0.5, 1, 2, 3, 4, 5, 7, '{"id":"m"}', 10, 20)`);
  session.run("ses_a", null);
  session.run("ses_b", "ses_a");
  const message = db.prepare("INSERT INTO message VALUES (?, ?, ?, 0, ?)");
  const part = db.prepare("INSERT INTO part VALUES (?, ?, ?, 0, 0, ?)");
  // A parser would make other bytes of this number and of the lone surrogate.
  const exact = String.raw`{"type":"text","text":"1.0 \ud800","cost":1.50e0}`;
  for (const id of ["ses_a", "ses_b"]) {
    message.run(`msg_${id}_2`, id, 12, `{"role":"assistant","time":{"created":12}}`);
    message.run(`msg_${id}_1`, id, 11, `{"role":"user","time":{"created":11}}`);
    part.run(`prt_${id}`, `msg_${id}_1`, id, exact);
  }
  await pushInside(host);
  expect([...fake.originals.copies.keys()]).toEqual(["opencode/ses_a"]);
  const { head, files } = await openCopy(fake.originals, "opencode/ses_a", secret);
  expect([...files.keys()]).toEqual(["export/ses_a.json", "export/ses_b.json"]);
  expect([head.home, head.agentVersion]).toEqual(["~/.local/share/opencode", "1.18.33"]);
  const text = files.get("export/ses_b.json")?.toString() ?? "";
  expect(text).toContain(`${exact.slice(0, -1)},"id":"prt_ses_b","sessionID":"ses_b","messageID":"msg_ses_b_1"}`);
  expect(JSON.parse(text)).toMatchObject({
    info: {
      ...{ id: "ses_b", slug: "moon", projectID: "p1", parentID: "ses_a", directory: "/code/api", title: "Try" },
      ...{ version: "1.18.33", cost: 0.5, summary: { additions: 7, deletions: 0, files: 0 }, model: { id: "m" } },
      tokens: { input: 1, output: 2, reasoning: 3, cache: { read: 4, write: 5 } },
      time: { created: 10, updated: 20 },
    },
    messages: [
      { info: { role: "user", id: "msg_ses_b_1", sessionID: "ses_b" }, parts: [{ type: "text" }] },
      { info: { role: "assistant", id: "msg_ses_b_2" }, parts: [] },
    ],
  });
  expect(await pushInside(host)).toMatchObject({ errors: "", originals: { copies: 0 } });
  db.close();
});

function writeOpencode(home: string, messages: number, firstText = "Look.") {
  const db = makeDatabase(join(home, ".local/share/opencode/opencode.db"), opencodeSchema);
  const session =
    db.prepare(`INSERT INTO session (id, project_id, directory, version, tokens_input, time_created, time_updated)
    VALUES ('ses_a', 'p1', '/code/api', '1.18.33', ?, 10, ?)`);
  session.run(messages, Date.now());
  for (let at = 1; at <= messages; at++) {
    db.prepare("INSERT INTO message VALUES (?, 'ses_a', ?, 0, ?)").run(`msg_${at}`, at, `{"role":"user"}`);
    const data = JSON.stringify({ type: "text", text: at === 1 ? firstText : "More." });
    db.prepare("INSERT INTO part VALUES (?, ?, 'ses_a', 0, 0, ?)").run(`prt_${at}`, `msg_${at}`, data);
  }
  db.close();
}

test("an OpenCode session that another machine continued replaces its copy, a different one does not", async () => {
  const { fake, host, secret } = await worldWithCopies();
  writeOpencode(host.home, 2);
  await pushInside(host);
  const identity = await readIdentity(host);
  const pushElsewhere = async (messages: number, firstText?: string) => {
    const other = await addMachine(fake.url);
    if (identity) await writeIdentity(other, identity);
    await runInside(originals, other, { words: ["on"], values: { yes: true } });
    writeOpencode(other.home, messages, firstText);
    const { errors, originals: sent } = await pushInside(other);
    const { files } = await openCopy(fake.originals, "opencode/ses_a", secret);
    return [sent, errors, JSON.parse(files.get("export/ses_a.json")?.toString() ?? "").messages.length];
  };
  expect(await pushElsewhere(3)).toEqual([expect.objectContaining({ copies: 1, refused: 0 }), "", 3]);
  const refused = expect.objectContaining({ copies: 0, refused: 1 });
  expect(await pushElsewhere(4, "Look there.")).toEqual([refused, expect.stringContaining("continued differently"), 3]);
  expect(await pushElsewhere(2)).toEqual([refused, expect.stringContaining("after the end of this machine's"), 3]);
});

const geminiId = "aaaa1111-2222-4333-8444-555555555555";
const chat = ".gemini/tmp/web/chats/session-2026-11-01T10-00-aaaa1111";
const geminiMeta = { sessionId: geminiId, projectHash: "web", startTime: "2026-11-01T10:00:00.000Z", kind: "main" };
const said = { id: "u1", timestamp: "2026-11-01T10:00:10.000Z", type: "user", content: [{ text: "Look." }] };

test("Gemini CLI's chats are copied with those of their sub-agents", async () => {
  const { fake, host, home, secret } = await worldWithCopies();
  await writeBelow(home, `${chat}.jsonl`, toLines(geminiMeta, said));
  await writeBelow(
    home,
    `.gemini/tmp/web/chats/${geminiId}/sub.jsonl`,
    toLines({ ...geminiMeta, sessionId: "x" }, said),
  );
  await writeBelow(home, ".gemini/tmp/web/.project_root", "/code/web\n");
  await pushInside(host);
  const { files } = await openCopy(fake.originals, `gemini-cli/${geminiId}`, secret);
  const paths = ["session-2026-11-01T10-00-aaaa1111.jsonl", `${geminiId}/sub.jsonl`];
  expect([...files.keys()]).toEqual(paths.map((path) => `tmp/web/chats/${path}`));
  for (const [path, bytes] of files) expect(bytes).toEqual(await readFile(join(home, ".gemini", path)));
});

test("a sub-agent that goes on alone is added to its session's copy", async () => {
  const { fake, host, home, secret } = await worldWithCopies(1);
  const path = `${claudePath(1).replace(/\.jsonl$/, "")}/subagents/agent-a1.jsonl`;
  await writeBelow(home, path, toLines(...claudeLines("agent", 1)));
  await pushInside(host);
  await appendFile(join(home, path), toLines(...claudeLines("agent", 1, { text: "More." })));
  expect(await pushInside(host)).toMatchObject({ originals: { copies: 1 } });
  const { files } = await openCopy(fake.originals, `claude-code/${makeId(1)}`, secret);
  expect(files.get(path.replace(".claude/", ""))).toEqual(await readFile(join(home, path)));
});

test("a session that is in two folders is copied from the file that was written last, once", async () => {
  const { fake, host, home, secret } = await worldWithCopies(1);
  const other = claudePath(1).replace("-home-ada-code-api", "-srv-api");
  await writeBelow(home, other, `${await readFile(join(home, claudePath(1)), "utf8")}{}\n`);
  const later = new Date(Date.now() + 1000);
  await utimes(join(home, other), later, later);
  expect(await pushInside(host)).toMatchObject({ originals: { copies: 1 } });
  const { files } = await openCopy(fake.originals, `claude-code/${makeId(1)}`, secret);
  expect([...files]).toEqual([[other.replace(".claude/", ""), await readFile(join(home, other))]]);
  expect(await pushInside(host)).toMatchObject({ originals: { copies: 0, wireBytes: 0 } });
});

test("a rollout that Codex compresses later is copied as it is then", async () => {
  const { fake, host, home, secret } = await worldWithCopies();
  const id = "019a0000-0000-7000-8000-000000000001";
  const path = `.codex/sessions/2026/11/01/rollout-2026-11-01T10-00-00-${id}.jsonl`;
  await writeBelow(home, path, toLines(...codexLines(id, 2)));
  await pushInside(host);
  await writeBelow(home, `${path}.zst`, zstdCompressSync(await readFile(join(home, path))));
  await rm(join(home, path));
  expect(await pushInside(host)).toMatchObject({ originals: { copies: 1 } });
  const { files } = await openCopy(fake.originals, `codex-cli/${id}`, secret);
  expect([...files]).toEqual([[`${path.replace(".codex/", "")}.zst`, await readFile(join(home, `${path}.zst`))]]);
});

/** Runs a round as `watch` does, which goes on while copies are sent. */
async function watchOnce(host: Host) {
  const sent: number[] = [];
  const command = async (context: Context) => {
    const target = await openTarget(context);
    const filter = new SessionFilter(context);
    await pushOnce(context, target, filter);
    const started = performance.now();
    target.originals.start(filter, ({ copies }) => sent.push(copies));
    const tookMs = performance.now() - started;
    await target.originals.idle;
    return tookMs < 100 ? 0 : 1;
  };
  const { code, errors } = await runInside(command, host);
  return { code, errors, sent };
}

test("in the background a chat that is rewritten with each message is sent once it rests, or after ten minutes", async () => {
  const { fake, host, home } = await worldWithCopies();
  const write = (text: string) =>
    writeBelow(home, `${chat}.json`, JSON.stringify({ ...geminiMeta, messages: [{ ...said, content: text }] }));
  await write("Look.");
  await writeBelow(home, ".gemini/tmp/web/.project_root", "/code/web\n");
  expect(await watchOnce(host)).toEqual({ code: 0, errors: "", sent: [1] });
  const path = await write("Look again.");
  expect(await watchOnce(host)).toEqual({ code: 0, errors: "", sent: [] });
  const rested = new Date(Date.now() - 61_000);
  await utimes(path, rested, rested);
  expect(await watchOnce(host)).toEqual({ code: 0, errors: "", sent: [1] });
  await write("It never rests.");
  expect(await watchOnce(host)).toMatchObject({ sent: [] });
  const folder = join(home, ".local/state/spoor");
  const state = (await readdir(folder, { recursive: true })).find((name) => /^originals-[^.]+\.json$/.test(name)) ?? "";
  const { sentAt, ...others } = JSON.parse(await readFile(join(folder, state), "utf8"));
  await writeFile(join(folder, state), JSON.stringify({ ...others, sentAt: sentAt - 601_000 }));
  expect(await watchOnce(host)).toMatchObject({ sent: [1] });
  await write("A push does not wait.");
  expect(await pushInside(host)).toMatchObject({ originals: { copies: 1 } });
  expect(fake.originals.copies.size).toBe(1);
});

test("a head says where the repository was, without running Git", async () => {
  const commit = "0123456789abcdef0123456789abcdef01234567";
  const config = `[core]\n\tbare = false\n[remote "fork"]\n\turl = https://x/fork\n[remote "origin"]\n\turl = https://user:pass@example.org/a/b.git\n\tfetch = +x\n[branch "main"]\n`;
  const { home } = await makeHome({
    "loose/.git/HEAD": "ref: refs/heads/feature/x\n",
    "loose/.git/config": config,
    "loose/.git/refs/heads/feature/x": `${commit}\n`,
    "loose/deep/er/file": "",
    "packed/.git/HEAD": "ref: refs/heads/main\n",
    "packed/.git/packed-refs": `# pack-refs\n${commit} refs/heads/main\n`,
    "tree/.git": "gitdir: ../loose/.git/worktrees/tree\n",
    "loose/.git/worktrees/tree/HEAD": `${commit}\n`,
    "loose/.git/worktrees/tree/commondir": "../..\n",
    "none/file": "",
  });
  const loose = { branch: "feature/x", commit };
  expect(readGit(join(home, "loose/deep/er"))).toMatchObject({
    ...loose,
    remote: expect.stringMatching(/example\.org\/a\/b/),
  });
  expect(readGit(join(home, "loose"))?.remote).not.toContain("pass");
  expect(readGit(join(home, "packed"))).toEqual({ remote: null, branch: "main", commit });
  expect(readGit(join(home, "tree"))).toMatchObject({ branch: null, commit });
  expect([readGit(join(home, "none")), readGit("relative"), readGit("//share/x")]).toEqual([null, null, null]);
});

test("a file that can't be read costs only its own copy", async () => {
  const { fake, host, home } = await worldWithCopies(2);
  const folder = claudePath(1).replace(/\.jsonl$/, "");
  await writeBelow(home, `${folder}/tool-results/a.txt`, "x");
  await writeFile(join(home, `${folder}/tool-results/b.txt`), "y", { mode: 0 });
  const { code, originals: sent, errors } = await pushInside(host);
  expect(code).toBe(0);
  // Root reads every file.
  if (process.getuid?.() !== 0) expect(errors).toMatch(/^No exact copy of ~\/.*1\.jsonl was sent: /);
  expect(sent.copies).toBe(process.getuid?.() === 0 ? 2 : 1);
  expect(fake.originals.copies.has(`claude-code/${makeId(2)}`)).toBe(true);
});

test("a push needs nothing that Node 20 lacks", async () => {
  const { host } = await worldWithCopies(1);
  const later: [object, string][] = [
    ...["groupBy"].flatMap((name): [object, string][] => [
      [Object, name],
      [Map, name],
    ]),
    ...([
      [Promise, "withResolvers"],
      [Promise, "try"],
      [Array, "fromAsync"],
    ] as [object, string][]),
    ...["union", "intersection", "difference"].map((name): [object, string] => [Set.prototype, name]),
    ...["map", "filter", "toArray", "some", "find"].map((name): [object, string] => [
      Object.getPrototypeOf(Object.getPrototypeOf([].values())),
      name,
    ]),
  ];
  const kept = later.map(([owner, name]) => Object.getOwnPropertyDescriptor(owner, name));
  for (const [owner, name] of later) Reflect.deleteProperty(owner, name);
  try {
    expect(await pushInside(host)).toMatchObject({ code: 0, errors: "", originals: { copies: 1 } });
    expect(await runInside(originals, host, { words: ["verify"] })).toMatchObject({ code: 0 });
  } finally {
    for (const [at, [owner, name]] of later.entries()) {
      const descriptor = kept[at];
      if (descriptor) Object.defineProperty(owner, name, descriptor);
    }
  }
});
