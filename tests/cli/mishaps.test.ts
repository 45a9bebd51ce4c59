import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, symlink } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join, resolve } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { claudeCode } from "../../cli/adapters/claude-code/adapter.ts";
import { defaultLimits } from "../../cli/server/limits.ts";
import { readInput } from "../../cli/sessions/inputs.ts";
import { Terminal } from "../../cli/terminal/terminal.ts";
import { ended, provideClient, wrote } from "../support/client.ts";
import { startFake } from "./fake-server.ts";
import { discoverAll, linesOf, makeHome, writeBelow } from "./home.ts";
import { claudeLines } from "./sessions.ts";

const idOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
const claudePath = (number: number) => `.claude/projects/-home-ada-code-api/${idOf(number)}.jsonl`;

/** A client that is logged in at a server, with two sessions in its home. */
async function world() {
  const fake = await startFake();
  const client = await provideClient(() => resolve("cli/main.ts"));
  for (const number of [1, 2])
    await writeBelow(client.home, claudePath(number), linesOf(...claudeLines(idOf(number), number)));
  const environment = { SPOOR_URL: fake.url, SPOOR_TOKEN: "spoor_test" };
  const start = (words: string[], more: object = {}) => client.start(words, { ...environment, ...more });
  const run = (words: string[], more: object = {}) => ended(start(words, more));
  return { fake, home: client.home, start, run };
}

/** A folder that nothing can be written to, not even by root. */
const nowhere = { XDG_STATE_HOME: "/dev/null/state", XDG_CONFIG_HOME: "/dev/null/config" };

describe("an output that nobody reads any more", () => {
  test.each(["scan", "push", "push --dry-run", "--help"])("ends %s as it would have ended", async (words) => {
    const { start } = await world();
    const child = start(words.split(" "));
    const done = ended(child);
    child.stdout?.destroy();
    expect(await done).toEqual({ code: 0, output: "", errors: "" });
  });

  test("ends watch, which would go on for ever", async () => {
    const { start, home } = await world();
    const child = start(["watch"]);
    const done = once(child, "close");
    await wrote(child, /2 new/);
    child.stdout?.destroy();
    await writeBelow(home, claudePath(3), linesOf(...claudeLines(idOf(3), 1)));
    expect(await done).toEqual([0, null]);
  });

  test.skipIf(process.platform !== "linux")("is told where it could not be written", async () => {
    const { home } = await world();
    const words = `'${process.execPath}' '${resolve("cli/main.ts")}' scan 2>&1 >/dev/full; echo "ended with $?"`;
    const output = execFileSync("sh", ["-c", words], { env: { HOME: home, NODE_ENV: "production" } }).toString();
    expect(output).toMatch(/^spoor: The output can't be written: ENOSPC.*\nended with 1\n$/);
  });
});

describe("a folder that can't be written to", () => {
  test("keeps no scan from counting, and no push from sending", async () => {
    const { fake, run } = await world();
    const scanned = await run(["scan"], nowhere);
    expect([scanned.code, scanned.output]).toEqual([0, expect.stringMatching(/^Claude Code +2 /m)]);
    expect(scanned.errors).toMatch(
      /^\/dev\/null\/state.* can't be written: .* The next scan reads everything again\.\n$/,
    );
    const pushed = await run(["push"], nowhere);
    expect([pushed.code, pushed.output]).toEqual([0, expect.stringContaining("Sent 2 sessions")]);
    expect(pushed.errors.match(/can't be written/g)).toHaveLength(1);
    expect(fake.archive.size).toBe(2);
    expect(fake.telemetry).toEqual([]);
  });

  test("ends a login before anybody approves it", async () => {
    const { fake, run } = await world();
    const { code, errors } = await run(["login"], nowhere);
    expect([code, errors]).toEqual([1, expect.stringContaining("settings.json can't be written")]);
    expect(fake.requests).toEqual([]);
  });
});

describe("what lies in a projects folder besides sessions", () => {
  test("pipes, circles of links, and files of other bytes keep nothing from being sent", async () => {
    const { fake, home, run } = await world();
    const folder = dirname(join(home, claudePath(1)));
    execFileSync("mkfifo", [join(folder, "pipe.jsonl")]);
    await symlink("..", join(folder, "above"));
    await symlink("itself.jsonl", join(folder, "itself.jsonl"));
    await symlink("/nowhere.jsonl", join(folder, "gone.jsonl"));
    await mkdir(join(folder, "folder.jsonl"));
    await writeBelow(folder, "bytes.jsonl", Buffer.from([0xff, 0xfe, 0x00, 0x0a, 0x80, 0x0a]));
    const latin = Buffer.from(linesOf(...claudeLines(idOf(5), 1, { text: "caf\u00e9" })), "latin1");
    await writeBelow(home, claudePath(5), latin);
    const { code, errors } = await run(["push"]);
    expect([code, errors, fake.archive.size]).toEqual([0, "", 3]);
  });

  test.skipIf(process.platform === "win32")("a folder that may not be read is named", async () => {
    const host = await makeHome({ [claudePath(1)]: linesOf(...claudeLines(idOf(1), 1)) });
    const folder = dirname(join(host.home, claudePath(1)));
    await chmod(host.home, 0o755);
    await chmod(folder, 0o000);
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) process.seteuid?.(65534); // root may read everything
    try {
      const [input] = await discoverAll(claudeCode, host);
      if (!input) throw new Error("nothing was found");
      const bounds = { bytes: defaultLimits.decodedBytes, messages: defaultLimits.messagesPerTrace };
      const { left } = await readInput({ ...input, adapter: claudeCode }, { bounds });
      expect(left).toEqual([{ source: "claude-code", sourceId: folder, reason: "it may not be read" }]);
    } finally {
      if (isRoot) process.seteuid?.(0);
      await chmod(folder, 0o755);
    }
  });

  test("a dry run and watch name it as well, where nothing else is to be sent", async () => {
    const { home, run, start } = await world();
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

describe("an address that is not a Spoor server's", () => {
  test.each([
    [
      200,
      { "Content-Type": "text/html" },
      /answers with 200, but not as a Spoor server does\. Is it the right address\?/,
    ],
    [404, {}, /answers with 404, but not as a Spoor server does/],
    [
      308,
      { Location: "https://spoor.example.org/x" },
      /it sends to https:\/\/spoor\.example\.org, which --server can name/,
    ],
  ])("is told at once, with the status %i", async (status, headers, told) => {
    const other = createServer((_, response) => void response.writeHead(status, headers).end("<h1>Hello</h1>"));
    onTestFinished(() => void other.close());
    await new Promise<void>((listening) => other.listen(0, "127.0.0.1", listening));
    const { run } = await world();
    const { port } = other.address() as AddressInfo;
    for (const command of ["login", "push"]) {
      const { code, errors } = await run([command], { SPOOR_URL: `http://127.0.0.1:${port}` });
      expect([command, code, errors]).toEqual([command, 1, expect.stringMatching(told)]);
    }
  });
});

describe("wrong use", () => {
  test.each([
    [["frob"], 'no command "frob". See: '],
    [["help", "frob"], 'no command "frob"'],
    [["frob", "--help"], 'no command "frob"'],
    [["scan", "extra"], 'scan takes no "extra". See: '],
    [["push", "--frob"], "Unknown option '--frob'. See: "],
    [["push", "--since", "never"], "--since takes a date or a span"],
    [["watch", "--since", "never"], "--since takes a date or a span"],
    [["push", "none.jsonl"], 'no file "none.jsonl"'],
  ])("%j is told before the server is asked anything", async (words, told) => {
    const { fake, run } = await world();
    const { code, errors, output } = await run(words);
    expect([code, output, errors]).toEqual([2, "", expect.stringContaining(told)]);
    expect(fake.requests).toEqual([]);
  });

  test("the advice to log in names the server that was named", async () => {
    const { fake, run } = await world();
    const { code, errors } = await run(["push", "--server", fake.url], { SPOOR_TOKEN: "" });
    expect([code, errors]).toEqual([
      3,
      expect.stringMatching(/Log in with: node .*main\.ts login --server http:\S+\n$/),
    ]);
  });

  test("settings that are broken are what doctor says", async () => {
    const { fake, home, run } = await world();
    fake.failWith(({ url }) => (url === "/api/health" ? { status: 200, body: { ok: true } } : undefined));
    await chmod(await writeBelow(home, ".config/spoor/settings.json", '{"accounts":'), 0o600);
    const { code, output } = await run(["doctor"]);
    expect([code, output]).toEqual([1, expect.stringMatching(/✗ settings .*settings\.json is broken; log in anew/)]);
  });
});

test("a table too wide for the terminal is told as lists, without what is nothing", () => {
  let shown = "";
  const stream = { write: (text: string) => (shown += text), on: () => {}, isTTY: true, columns: 40 };
  const terminal = new Terminal(stream, stream, { isJson: false, env: { NO_COLOR: "1" } });
  terminal.table(["Agent", "Sessions", "Messages", "Rejected", "Size"], [["Claude Code", "37", "778", "0", "334 KiB"]]);
  expect(shown).toBe("Claude Code\n  Sessions  37\n  Messages  778\n  Size      334 KiB\n");
});
