import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { styled, Terminal } from "../../cli/terminal/terminal.ts";
import { ended, wrote } from "../support/client.ts";
import { isLong } from "../support/long.ts";
import { toLines, writeBelow } from "./home.ts";
import { mostHostileText as bad, expectPrintable, hostileText } from "./hostile.ts";
import { claudePath, problem, world } from "./world.ts";

/** A terminal that keeps what is written to it. */
function makeTerminal(options: { isTTY: boolean; isJson?: boolean; token?: string }) {
  const written: string[] = [];
  const stream = { write: (text: string) => written.push(text), on: () => {}, isTTY: options.isTTY, columns: 500 };
  const env = { SPOOR_TOKEN: options.token };
  const terminal = new Terminal(stream, stream, { isJson: options.isJson === true, env });
  return { terminal, written };
}

describe("what the terminal writes", () => {
  const seeds = Array.from({ length: isLong ? 1000 : 200 }, (_, seed) => seed);

  test("is one line of visible text, whatever it is given", () => {
    const { terminal, written } = makeTerminal({ isTTY: false });
    for (const seed of seeds) {
      const text = hostileText(seed);
      terminal.say(text, styled("bold", text));
      terminal.warn(`${styled("red", text)} and ${text}`);
      terminal.write(text);
      terminal.table(
        [
          { title: text, align: "left" },
          { title: text, align: "right" },
        ],
        [[text, text]],
      );
    }
    expect(written).toHaveLength(5 * seeds.length);
    for (const line of written) {
      expect(line.indexOf("\n")).toBe(line.length - 1);
      expectPrintable(line);
    }
  });

  test("has escape sequences of its own styles only", () => {
    const { terminal, written } = makeTerminal({ isTTY: true });
    for (const seed of seeds) {
      const text = hostileText(seed);
      terminal.say(styled("green", text), text, styled("dim", text));
      terminal.progress(() => text);
      terminal.clear();
    }
    const own = ["\x1b[32m", "\x1b[39m", "\x1b[2m", "\x1b[22m", "\r\x1b[2K"];
    expectPrintable(own.reduce((text, sequence) => text.replaceAll(sequence, ""), written.join("")));
    expect(written.join("")).toContain("\x1b[32m");
  });

  test("as JSON has the same value, with the same characters escaped", () => {
    const { terminal, written } = makeTerminal({ isTTY: true, isJson: true });
    for (const seed of seeds) {
      const value = { [hostileText(seed)]: [hostileText(seed + 1)] };
      terminal.json(value);
      const line = written.at(-1) ?? "";
      expectPrintable(line);
      expect(JSON.parse(line)).toEqual(value);
    }
  });

  test("ends a text that is too long for a line", () => {
    const { terminal, written } = makeTerminal({ isTTY: false });
    terminal.warn("x".repeat(1e6));
    expect(written.join("")).toBe(`${"x".repeat(2000)}…\n`);
  });

  test("has no token, also where a text hides it between invisible characters", () => {
    const token = "a-token-of-another-form";
    const shaped = `spoor_${"Ab1".repeat(12)}`;
    for (const isJson of [true, false]) {
      const { terminal, written } = makeTerminal({ isTTY: false, isJson, token });
      terminal.say(`It is ${token.split("").join("\u200b")}, or`, shaped);
      terminal.json({ it: token, or: [shaped] });
      terminal.warn(`"${token}"`);
      terminal.message(JSON.stringify({ error: { message: `${token} ${shaped}` } }));
      expect(written.join("")).not.toContain(token);
      expect(written.join("")).not.toContain(shaped);
      expect(written.join("")).toContain("[token]");
    }
  });
});

/** An answer of the login, the account and a job, with a hostile text wherever a server can put one. */
const hostileAnswers = (url: string, text: string): Record<string, { status: number; body: object }> => ({
  "/api/cli/device/start": {
    status: 200,
    body: {
      ok: true,
      deviceCode: text,
      userCode: text,
      verificationUri: text,
      verificationUriComplete: `${url}/device?code=${text}#${text}`,
      expiresIn: 60,
      expiresAt: text,
      interval: 0.01,
    },
  },
  "/api/cli/device/poll": {
    status: 200,
    body: {
      ok: true,
      status: "approved",
      token: "spoor_test",
      userId: text,
      user: { name: text, email: text },
      machine: text,
      expiresAt: text,
    },
  },
  "/api/cli/session": {
    status: 200,
    body: { ok: true, userId: text, user: { name: text, email: text }, machine: text, expiresAt: text },
  },
  "/api/limits": { status: 200, body: { ok: true, ingest: { wireBytes: text, contentEncodings: [text, "gzip"] } } },
  "/api/ingest": { status: 202, body: { ok: true, jobId: text, status: text } },
  "/api/ingest/": {
    status: 200,
    body: {
      ok: true,
      status: "failed",
      traces: { received: text, created: text, updated: text, unchanged: text, kept: text },
      messages: { received: text, written: text },
      error: { code: text, message: text },
    },
  },
  "/api/health": { status: 200, body: { ok: true, status: text } },
  "/api/cli/telemetry": { status: 200, body: { ok: true, accepted: text, forwarded: text } },
});

const commands = [["login"], ["whoami"], ["scan", "--show-telemetry"], ["push"], ["status"], ["doctor"], ["logout"]];

describe("a server whose every field is hostile", () => {
  test.each([[[]], [["--json"]]])("writes nothing but text to the terminal %j", async (more) => {
    const { fake, home, run, start } = await world(2);
    const answers = hostileAnswers(fake.url, bad);
    fake.failWith(({ url = "" }) => {
      const path = Object.keys(answers).findLast((one) => url.startsWith(one));
      return path === undefined ? undefined : answers[path];
    });
    for (const words of commands) {
      const { code, output, errors } = await run([...words, ...more], { SPOOR_TOKEN: "" });
      expect([words, code === null]).toEqual([words, false]);
      expect(output + errors).not.toMatch(/at .*\.ts:\d/); // a stack: no answer makes the client fail unexpectedly
      expectPrintable(output + errors);
    }
    const watching = start(["watch", ...more], { XDG_STATE_HOME: join(home, "fresh") });
    const done = ended(watching);
    await wrote(watching, /Not sent|"left"/);
    watching.kill("SIGINT");
    const { output, errors } = await done;
    expectPrintable(output + errors);
  });

  test("and whose every error is", async () => {
    const { fake, run } = await world(1);
    const c1 = Buffer.from([0x9b, 0x32, 0x4a, 0x41]).toString("latin1");
    const headers = { "X-Request-Id": c1, "Retry-After": "99999", Location: `http://[${c1}`, Date: "x" };
    const errors = [{ path: bad, message: bad }, { path: { toString: bad }, message: null }, null];
    for (const status of [307, 400, 500]) {
      fake.failWith(() => problem(status, { error: bad, detail: bad, title: bad, errors, requestId: bad }, headers));
      for (const words of [["login"], ["whoami", "--json"], ["doctor"]]) {
        const ran = await run([...words, "--patience", "0"]);
        expect(ran.errors).not.toMatch(/at .*\.ts:\d/);
        expectPrintable(ran.output + ran.errors);
      }
    }
  });

  test("can't fill the memory with an endless answer, nor stop a login with its intervals", async () => {
    const { fake, run } = await world(0);
    fake.failWith(() => ({ status: 200, body: { ok: true, filler: "x".repeat(9 * 1024 * 1024) } }));
    expect(await run(["whoami"])).toMatchObject({ code: 1, errors: expect.stringContaining("more than 8 MiB") });
    const answer = { ok: true, status: "pending", deviceCode: "d", interval: 1e-9, expiresIn: 1e300 };
    let polls = 0;
    fake.failWith(({ url }) => {
      if (url?.startsWith("/api/cli/device/start"))
        return { status: 200, body: { ...answer, verificationUri: `${fake.url}/device` } };
      return ++polls < 10 ? { status: 202, body: answer } : problem(403, { error: "access_denied" });
    });
    const startedAt = performance.now();
    expect(await run(["login", "--patience", "0"])).toMatchObject({ code: 3 });
    expect(performance.now() - startedAt).toBeGreaterThan(10 * 50);
  });
});

test("hostile names and contents of files are shown as text", async () => {
  const { home, run } = await world(1);
  // A file name has no slash and no NUL.
  const name = bad.replace(/[\0/]/g, "").slice(0, 60);
  await writeBelow(home, join(".claude/projects", name, `${name}.jsonl`), "not JSON\n");
  await writeBelow(
    home,
    claudePath(2),
    toLines({ type: bad }, { type: "user", sessionId: bad, cwd: `/${bad}`, message: 7 }),
  );
  const session = { source: "own", sourceId: bad, title: bad, project: bad, messages: [{ position: 0, content: bad }] };
  const unsendable = { ...session, sourceId: `${bad}2`, createdAt: bad, messages: [{ position: bad, content: "x" }] };
  const path = await writeBelow(
    home,
    `.local/share/spoor/jsonl/${name}.jsonl`,
    toLines(session, unsendable, { [bad]: bad }, [bad]),
  );
  const elsewhere = { CODEX_HOME: join(home, name, "codex"), SPOOR_SPECSTORY: join(home, name) };
  await mkdir(elsewhere.CODEX_HOME, { recursive: true });
  await writeFile(join(home, name, ".specstory"), "");
  for (const words of [
    ["scan", "--show-telemetry"],
    ["push", "--dry-run"],
    ["push", "--project", name],
    ["push", path],
    ["push", `${path}${name}`],
    ["push", "--json"],
    ["doctor"],
    [name],
    [`--${name}`],
    ["scan", "--json", "--server", name],
  ]) {
    const { output, errors } = await run(words, elsewhere);
    expect(errors).not.toMatch(/at .*\.ts:\d/);
    expectPrintable(output + errors);
  }
});

test("a session's id is listed as text where the server refuses it", async () => {
  const { home, fake, run } = await world(0);
  const session = { source: "own", sourceId: `${bad}1`, messages: [{ position: 0, content: "x" }] };
  await writeBelow(home, ".local/share/spoor/jsonl/x.jsonl", toLines(session));
  fake.failWith(({ url }) =>
    url === "/api/ingest" ? problem(400, { errors: [{ path: `traces.0.${bad}`, message: bad }] }) : undefined,
  );
  const { code, output, errors } = await run(["push"]);
  expect([code, errors]).toEqual([5, expect.stringMatching(/^! Not sent: own .*\n$/)]);
  expectPrintable(output + errors);
});
