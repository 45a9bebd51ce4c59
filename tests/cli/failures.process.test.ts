import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, symlink } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join, resolve } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { clientFile } from "#server/build/stamps";
import { claudeCode } from "../../cli/adapters/claude-code/adapter.ts";
import { commandNames, formatHelp } from "../../cli/help.ts";
import { parseInput } from "../../cli/sessions/inputs.ts";
import { countUnhandledType, emptyStats } from "../../cli/sessions/parse-stats.ts";
import { Terminal } from "../../cli/terminal/terminal.ts";
import { ended, wrote } from "../support/client.ts";
import { discoverAll, makeHome, toLines, writeBelow } from "./home.ts";
import { claudeLines } from "./sessions.ts";
import { claudePath, makeId, world } from "./world.ts";

/** A folder that nothing can be written to, not even by root. */
const nowhere = { XDG_STATE_HOME: "/dev/null/state", XDG_CONFIG_HOME: "/dev/null/config" };

describe("an output whose reader is gone", () => {
  test.each(["scan", "push", "push --dry-run", "--help"])("lets %s finish normally", async (words) => {
    const { start } = await world(2);
    const child = start(words.split(" "));
    const done = ended(child);
    child.stdout?.destroy();
    expect(await done).toEqual({ code: 0, output: "", errors: "" });
  });

  test("ends watch", async () => {
    const { start, home } = await world(2);
    const child = start(["watch"]);
    const done = once(child, "close");
    await wrote(child, /2 new/);
    child.stdout?.destroy();
    await writeBelow(home, claudePath(3), toLines(...claudeLines(makeId(3), 1)));
    expect(await done).toEqual([0, null]);
  });

  test.skipIf(process.platform !== "linux")("is an error where it can't be written", async () => {
    const { home } = await world(2);
    const words = `'${process.execPath}' '${resolve(clientFile)}' scan 2>&1 >/dev/full; echo "ended with $?"`;
    const output = execFileSync("sh", ["-c", words], { env: { HOME: home, NODE_ENV: "production" } }).toString();
    expect(output).toMatch(/^spoor: Can't write the output: ENOSPC.*\nended with 1\n$/);
  });
});

describe("a folder that can't be written to", () => {
  test("does not stop a scan or a push", async () => {
    const { fake, run } = await world(2);
    const scanned = await run(["scan"], nowhere);
    expect([scanned.code, scanned.output]).toEqual([0, expect.stringMatching(/^Claude Code +2 /m)]);
    expect(scanned.errors).toMatch(/^Can't write \/dev\/null\/state.* The next scan will read every file again\.\n$/);
    const pushed = await run(["push"], nowhere);
    expect([pushed.code, pushed.output]).toEqual([0, expect.stringContaining("Sent 2 sessions")]);
    expect(pushed.errors.match(/Can't write/g)).toHaveLength(1);
    expect(fake.archive.size).toBe(2);
    expect(fake.telemetry).toEqual([]);
  });

  test("ends a login before it is approved", async () => {
    const { fake, run } = await world(2);
    const { code, errors } = await run(["login"], nowhere);
    expect([code, errors]).toEqual([1, expect.stringContaining("Can't write /dev/null/config/spoor/settings.json")]);
    expect(fake.requests).toEqual([]);
  });
});

describe("other files in a projects folder", () => {
  test("pipes, circular links and binary files stop nothing, and invalid lines are listed", async () => {
    const { fake, home, run } = await world(2);
    const folder = dirname(join(home, claudePath(1)));
    execFileSync("mkfifo", [join(folder, "pipe.jsonl")]);
    await symlink("..", join(folder, "above"));
    await symlink("itself.jsonl", join(folder, "itself.jsonl"));
    await symlink("/nowhere.jsonl", join(folder, "gone.jsonl"));
    await mkdir(join(folder, "folder.jsonl"));
    await writeBelow(folder, "bytes.jsonl", Buffer.from([0xff, 0xfe, 0x00, 0x0a, 0x80, 0x0a]));
    const latin = Buffer.from(toLines(...claudeLines(makeId(5), 1, { text: "caf\u00e9" })), "latin1");
    await writeBelow(home, claudePath(5), latin);
    const { code, errors } = await run(["push"]);
    expect([code, fake.archive.size]).toEqual([0, 3]);
    const bytes = join(folder, "bytes.jsonl");
    expect(errors).toBe(`! Skipped: ${bytes}:1: not JSON\n! Skipped: ${bytes}:2: not JSON\n`);
  });

  test("a pipe in the place of what an agent notes beside a session stops nothing", async () => {
    const { home, run } = await world(1);
    for (const path of [
      ".claude/projects/-a/s/subagents/agent-a1.meta.json",
      ".factory/sessions/-a/x.settings.json",
      ".copilot/session-state/x/workspace.yaml",
      ".gemini/projects.json",
      ".local/share/crush/projects.json",
      ".vibe/logs/session/x/meta.json",
    ]) {
      await mkdir(dirname(join(home, path)), { recursive: true });
      execFileSync("mkfifo", [join(home, path)]);
    }
    await writeBelow(home, ".claude/projects/-a/s/subagents/agent-a1.jsonl", toLines(...claudeLines(makeId(7), 1)));
    const start = { type: "session_start", id: "x", cwd: "/a" };
    const hi = { type: "message", id: "m", message: { role: "user", content: [{ type: "text", text: "hi" }] } };
    await writeBelow(home, ".factory/sessions/-a/x.jsonl", toLines(start, hi));
    const named = { type: "user.message", data: { content: "hi" }, id: "e", timestamp: "2026-01-01T00:00:00.000Z" };
    await writeBelow(home, ".copilot/session-state/x/events.jsonl", toLines(named));
    await writeBelow(home, ".gemini/tmp/x/chats/session-1.json", "{}");
    await writeBelow(home, ".vibe/logs/session/x/messages.jsonl", toLines({ role: "user", content: "hi" }));
    const { code, output } = await run(["scan", "--json", "--no-telemetry"]);
    const { adapters } = JSON.parse(output);
    const found = ["claude-code", "droid", "copilot-cli", "mistral-vibe"].map((name) => adapters[name]?.sessions);
    expect([code, found]).toEqual([0, [2, 1, 1, 1]]);
  });

  test("types that are named as what every object has are counted as any other", () => {
    const stats = emptyStats();
    for (const type of ["constructor", "toString", "constructor"]) countUnhandledType(stats, type);
    expect(stats.unhandled).toEqual({ constructor: 2, toString: 1 });
  });

  const modes: [of: string, mode: number][] = [
    ["without any permission", 0o000],
    ["of which only the names may be read", 0o444],
  ];
  test.skipIf(process.platform === "win32").each(modes)("a folder %s is listed, once", async (_, mode) => {
    const files = [1, 2].map((number) => [claudePath(number), toLines(...claudeLines(makeId(number), 1))]);
    const host = await makeHome(Object.fromEntries(files));
    const folder = dirname(join(host.home, claudePath(1)));
    await chmod(host.home, 0o755);
    await chmod(folder, mode);
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) process.seteuid?.(65534); // root may read everything
    try {
      const [input, ...others] = await discoverAll(claudeCode, host);
      if (!input) throw new Error("nothing was found");
      const { left } = await parseInput({ ...input, adapter: claudeCode });
      expect(left).toMatchObject([{ source: "claude-code", reason: "permission denied" }]);
      expect(left[0]?.sourceId.slice(0, folder.length)).toBe(folder);
      expect(others).toEqual([]);
    } finally {
      if (isRoot) process.seteuid?.(0);
      await chmod(folder, 0o755);
    }
  });

  test("a file that can't be read is listed by a dry run and by watch, too", async () => {
    const { home, run, start } = await world(2);
    await run(["push"]);
    await symlink("/proc/self/mem", join(home, claudePath(9)));
    expect(await run(["push", "--dry-run"])).toMatchObject({ code: 5, errors: expect.stringContaining("Not sent: ") });
    const watching = start(["watch"]);
    const done = once(watching, "close");
    await wrote(watching, /Not sent: claude-code .*mem|Not sent: claude-code .*000000009/);
    watching.kill("SIGINT");
    expect(await done).toEqual([130, null]);
  });
});

describe("the address of another server", () => {
  test.each([
    [200, { "Content-Type": "text/html" }, /is not a Spoor server \(it answered 200\)\. Check the URL/],
    [404, {}, /is not a Spoor server \(it answered 404\)/],
    [
      308,
      { Location: "https://spoor.example.org/x" },
      /a redirect to https:\/\/spoor\.example\.org; try that with --server/,
    ],
  ])("is reported at once, with the status %i", async (status, headers, told) => {
    const other = createServer((_, response) => void response.writeHead(status, headers).end("<h1>Hello</h1>"));
    onTestFinished(() => void other.close());
    await new Promise<void>((listening) => other.listen(0, "127.0.0.1", listening));
    const { run } = await world(2);
    const { port } = other.address() as AddressInfo;
    for (const command of ["login", "push"]) {
      const { code, errors } = await run([command], { SPOOR_URL: `http://127.0.0.1:${port}` });
      expect([command, code, errors]).toEqual([command, 1, expect.stringMatching(told)]);
    }
  });
});

describe("wrong arguments", () => {
  test.each([
    [["frob"], "Unknown command: frob. See: "],
    [["help", "frob"], "Unknown command: frob. See: "],
    [["frob", "--help"], "Unknown command: frob. See: "],
    [["frob", "--frob"], "Unknown command: frob. See: "],
    [["psuh"], "Unknown command: psuh. Did you mean push?"],
    [["hlep"], "Unknown command: hlep. Did you mean help?"],
    [["push", "--patience", "-1"], "Option '--patience' argument is ambiguous. See: "],
    [["help", "stats"], "Unknown command: stats. Did you mean status?"],
    [["scan", "extra"], 'scan takes no argument "extra". See: '],
    [["push", "--frob"], "Unknown option '--frob'. See: "],
    [["scan", "--since", "7d"], "Unknown option '--since'. See: "],
    [["scan", "--source", "frob"], 'Unknown source "frob". Known sources: claude-code, '],
    [["scan", "--server", "frob"], '"frob" is not an http or https URL'],
    [["push", "--server", "frob"], '"frob" is not an http or https URL'],
    [["status", "--patience", "soon"], '--patience must be a number of seconds, not "soon"'],
    [["push", "--since"], "argument missing. See: "],
    [["push", "--since", "never"], "--since must be a date or a time span"],
    [["watch", "--since", "never"], "--since must be a date or a time span"],
    [["push", "none.jsonl"], 'There is no file "none.jsonl"'],
    [["push", "."], '"." is a folder, not a file'],
  ])("%j is reported before any request", async (words, told) => {
    const { fake, run } = await world(2);
    const { code, errors, output } = await run(words);
    expect([code, output, errors]).toEqual([2, "", expect.stringContaining(told)]);
    expect(fake.requests).toEqual([]);
  });

  test("the advice to log in names the server that was named", async () => {
    const { fake, run } = await world(2);
    const { code, errors } = await run(["push", "--server", fake.url], { SPOOR_TOKEN: "" });
    expect([code, errors]).toEqual([
      3,
      expect.stringMatching(/Log in with: node .*spoor\.mjs login --server http:\S+\n$/),
    ]);
  });

  test("doctor reports broken settings", async () => {
    const { fake, home, run } = await world(2);
    fake.failWith(({ url }) => (url === "/api/health" ? { status: 200, body: { ok: true } } : undefined));
    await chmod(await writeBelow(home, ".config/spoor/settings.json", '{"accounts":'), 0o600);
    const { code, output } = await run(["doctor"]);
    expect([code, output]).toEqual([
      1,
      expect.stringMatching(/✗ settings .*settings\.json is not valid JSON; log in again/),
    ]);
  });
});

test("a table too wide for the terminal becomes lists without zeros", () => {
  let shown = "";
  const stream = { write: (text: string) => (shown += text), on: () => {}, isTTY: true, columns: 40 };
  const terminal = new Terminal(stream, stream, { isJson: false, env: { NO_COLOR: "1" } });
  const columns = ["Agent", "Sessions", "Messages", "Rejected", "Size"].map((title) => ({
    title,
    align: "left" as const,
  }));
  terminal.table(columns, [["Claude Code", "37", "778", "0", "334 KiB"]]);
  expect(shown).toBe("Claude Code\n  Sessions  37\n  Messages  778\n  Size      334 KiB\n");
});

test("every help fits into 80 columns, below the usage of its command", () => {
  for (const name of [undefined, ...commandNames]) {
    const lines = formatHelp(name).split("\n");
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines[0]).toContain(name ? `${name} [options]` : "sends your coding-agent sessions");
    if (name) expect(lines.at(-1)).toMatch(/^Options and exit codes of every command: see .* --help$/);
    else expect(lines).toContain("Exit codes: 0 done, 1 failed, 2 usage error, 3 not logged in, 4 server");
  }
});
