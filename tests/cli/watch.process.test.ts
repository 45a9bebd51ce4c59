import { execFileSync } from "node:child_process";
import { appendFile, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { clientFile } from "#server/build/stamps";
import { until } from "../faults/wait.ts";
import { ended, wrote } from "../support/client.ts";
import { isLong, longTest } from "../support/long.ts";
import { makeDatabase } from "./databases.ts";
import { toLines, writeBelow } from "./home.ts";
import { hurried } from "./machine.ts";
import { claudeLines, codexLines } from "./sessions.ts";
import { claudePath, makeId, world } from "./world.ts";

const key = (number: number) => `claude-code/${makeId(number)}`;
const turns = (number: number, from: number, to: number) => toLines(...claudeLines(makeId(number), to).slice(from * 4));

/** A preload for Node. */
const preload = (script: string) => ({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` });

/** The client with shorter waits for what may follow, and for what the system does not tell of. */
async function hasty(folder: string): Promise<string> {
  const paces = { lingerMs: 2000, shortLingerMs: 500, checkIntervalMs: 300, minPollIntervalMs: 300, deathRestMs: 200 };
  return writeBelow(folder, ".client/spoor.mjs", hurried(await readFile(clientFile, "utf8"), paces));
}

/** A world in which `watch` has sent sessions 1 to `sessions` and looked at every folder again. */
async function watched(sessions: number, environment: Record<string, string> = {}) {
  const made = await world(sessions, {}, hasty);
  const watching = made.start(["watch", "--json"], environment);
  const done = ended(watching);
  onTestFinished(async () => {
    watching.kill("SIGINT");
    await done;
  });
  const stored = (name: string, messages: number) =>
    until(20, `${messages} messages of ${name}`, () => made.fake.archive.get(name) === messages);
  for (let number = 1; number <= sessions; number++) await stored(key(number), number * 4);
  return { ...made, watching, done, stored, path: join(made.home, claudePath(1)) };
}

/** The processes that a process has started. */
const listChildren = (pid = 0): number[] => {
  try {
    return execFileSync("pgrep", ["-P", String(pid)])
      .toString()
      .split("\n")
      .filter(Boolean)
      .map(Number);
  } catch {
    return [];
  }
};

describe("watch", { timeout: 90_000 }, () => {
  test("sends new lines, sessions, projects, and agents that appear later", async () => {
    const { home, path, stored, fake } = await watched(2);
    await appendFile(path, turns(1, 1, 2));
    await stored(key(1), 8);
    await writeBelow(home, claudePath(3), turns(3, 0, 1));
    await stored(key(3), 4);
    const nested = join(home, ".claude/projects/-home-ada-code-web/s/subagents");
    await mkdir(nested, { recursive: true });
    await writeFile(join(nested, `agent-${makeId(4)}.jsonl`), turns(4, 0, 1));
    await stored(`claude-code/s/agent-${makeId(4)}`, 4);
    await writeBelow(
      home,
      `.codex/sessions/2026/11/01/rollout-${makeId(5)}.jsonl`,
      toLines(...codexLines(makeId(5), 1)),
    );
    await stored(`codex-cli/${makeId(5)}`, 4);
    await appendFile(join(home, `.codex/sessions/2026/11/01/rollout-${makeId(5)}.jsonl`), codexEnd);
    await stored(`codex-cli/${makeId(5)}`, 8);
    // Each line arrived alone: nothing was sent again.
    expect(fake.uploads.flatMap(({ traces }) => traces).filter(({ sourceId }) => sourceId === makeId(1))).toHaveLength(
      2,
    );
  });

  test("goes on where a folder was deleted and made again, moved, or replaced", async () => {
    const { home, path, stored } = await watched(1);
    const folder = dirname(path);
    await rm(folder, { recursive: true });
    await writeBelow(home, claudePath(1), turns(1, 0, 2));
    await stored(key(1), 8);
    await rename(folder, `${folder}-moved`);
    await appendFile(join(`${folder}-moved`, `${makeId(1)}.jsonl`), turns(1, 2, 3));
    await stored(key(1), 12);
    await rename(join(home, ".claude"), join(home, ".claude-old"));
    await writeBelow(home, claudePath(2), turns(2, 0, 1));
    await stored(key(2), 4);
    await appendFile(join(home, claudePath(2)), turns(2, 1, 2));
    await stored(key(2), 8);
  });

  longTest("notices a database by its log, and single files in a folder where much else happens", async () => {
    const { home, stored, fake, watching } = await watched(1);
    const database = makeDatabase(join(home, ".local/share/goose/sessions/sessions.db"), gooseSchema);
    onTestFinished(() => database.close());
    database.exec(
      "INSERT INTO sessions VALUES ('s1', '', '', 'user', '/code', '2026-11-01 10:00:00', '2026-11-01 10:00:00')",
    );
    const say = (text: string) =>
      database
        .prepare(
          "INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES ('s1','user',?,1,'{}')",
        )
        .run(JSON.stringify([{ type: "text", text }]));
    say("One.");
    await stored("goose/s1", 1);
    await until(20, "the sender has ended", () => listChildren(watching.pid).length === 0);
    say("Two.");
    await stored("goose/s1", 2);
    await until(30, "the sender has ended, woken by nothing of its own", () => listChildren(watching.pid).length === 0);
    const { length } = fake.requests;
    for (const name of [".bash_history", "notes.txt"]) await writeBelow(home, name, "Nothing.");
    await sleep(500);
    expect([fake.requests.length, listChildren(watching.pid)]).toEqual([length, []]);
    await writeBelow(home, ".aider.chat.history.md", aiderChat);
    await until(20, "the chat", () => [...fake.archive.keys()].some((one) => one.startsWith("aider/")));
  });

  test("sends a file that was truncated and written again, or replaced by renaming", async () => {
    const { path, stored, fake } = await watched(1);
    await writeFile(path, "");
    await appendFile(path, turns(1, 0, 3));
    await stored(key(1), 12);
    await writeFile(`${path}.new`, turns(1, 0, 4));
    await rename(`${path}.new`, path);
    await stored(key(1), 16);
    expect(fake.uploads.at(-1)?.traces[0]?.append).toEqual({ count: 12 });
  });

  test.skipIf(!isLong || process.platform === "win32")(
    "keeps no memory of sending, and ends with its sender",
    async () => {
      const { watching, path, stored, done } = await watched(1);
      await until(20, "the sender has ended", () => listChildren(watching.pid).length === 0);
      await appendFile(path, turns(1, 1, 2));
      await stored(key(1), 8);
      const [sender = 0] = listChildren(watching.pid);
      process.kill(sender, "SIGKILL");
      await appendFile(path, turns(1, 2, 3));
      await stored(key(1), 12);
      const [next = 0] = listChildren(watching.pid);
      expect([next > 0, next === sender]).toEqual([true, false]);
      watching.kill("SIGKILL");
      await done;
      await until(20, "the sender notices it", () => !isRunning(next));
    },
  );

  test("ends with the code of what can't go on", async () => {
    const { fake, path, done } = await watched(1);
    fake.failWith(() => ({ status: 401, body: { ok: false, error: "invalid_token", detail: "No." } }));
    await appendFile(path, turns(1, 1, 2));
    expect(await done).toMatchObject({ code: 3, errors: "" });
  });

  longTest("looks every few seconds where the system can't tell of changes, and says so once", async () => {
    const noWatch = `import fs from "node:fs"; import { syncBuiltinESMExports } from "node:module";
      fs.watch = () => { throw Object.assign(new Error("no space left"), { code: "ENOSPC" }); }; syncBuiltinESMExports();`;
    const { path, stored, watching, done } = await watched(1, preload(noWatch));
    await appendFile(path, turns(1, 1, 2));
    await stored(key(1), 8);
    await appendFile(path, turns(1, 2, 3));
    await stored(key(1), 12);
    watching.kill("SIGINT");
    const { errors } = await done;
    expect(errors.match(/limits how many folders can be watched/g)).toHaveLength(1);
  });

  longTest("looks at everything after a sleep, also where events were lost", async () => {
    const deaf = `import fs from "node:fs"; import { EventEmitter } from "node:events"; import { syncBuiltinESMExports } from "node:module";
      fs.watch = () => Object.assign(new EventEmitter(), { close() {} }); syncBuiltinESMExports();
      const now = Date.now; let shift = 0; Date.now = () => now() + shift; process.on("SIGUSR2", () => { shift += 60_000; });`;
    const { path, stored, fake, watching } = await watched(1, preload(deaf));
    const quiet = async () => {
      const { length } = fake.requests;
      await sleep(500);
      return fake.requests.length === length && listChildren(watching.pid).length === 0;
    };
    await until(20, "its first rounds are over", quiet);
    await appendFile(path, turns(1, 1, 2));
    expect(await quiet()).toBe(true);
    watching.kill("SIGUSR2");
    await stored(key(1), 8);
  });

  test("says what it can't do before it begins", async () => {
    const { run, spawn, start, fake } = await world(1);
    expect(await run(["watch", "--since", "soon"])).toMatchObject({ code: 2 });
    expect(await spawn(["watch", "--sender"])).toMatchObject({ code: 2 });
    expect(await spawn(["watch"], { SPOOR_TOKEN: "" })).toMatchObject({ code: 3, errors: /Not logged in/ });
    expect(fake.uploads).toEqual([]);
    const watching = start(["watch"]);
    await wrote(watching, /1 new/);
    const done = ended(watching);
    watching.kill("SIGTERM");
    expect((await done).code).toBe(130);
  });
});

const gooseSchema = `PRAGMA journal_mode = WAL;
  CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '', description TEXT NOT NULL DEFAULT '',
    session_type TEXT NOT NULL DEFAULT 'user', working_dir TEXT NOT NULL, created_at TIMESTAMP, updated_at TIMESTAMP);
  CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL,
    content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL, metadata_json TEXT);`;

const aiderChat =
  "\n# aider chat started at 2026-11-01 10:00:00\n\n#### Why does it fire twice?  \n\nIt is never cleared.\n";

const codexEnd = toLines(...codexLines(makeId(5), 2).slice(2 + 5));

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
