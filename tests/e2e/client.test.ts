import { appendFile, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { toLines, writeBelow } from "../cli/home.ts";
import { makeMachine } from "../cli/machine.ts";
import { claudeLines, claudeMessagesPerTurn, codexLines } from "../cli/sessions.ts";
import { provideBrowser, signIn } from "../support/browser.ts";
import { download, ended, provideClient, wrote } from "../support/client.ts";
import { isLong } from "../support/long.ts";
import { makePng } from "../support/pictures.ts";
import { get, logIn, makeUser, owner, provideServer } from "../support/server.ts";

const server = await provideServer();
const userId = await makeUser();
const { page, faults, button } = await provideBrowser();
const client = await provideClient((folder) => download(server.url, folder));
const other = await provideClient((folder) => download(server.url, folder));

const makeId = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
const claudePath = (number: number) => `.claude/projects/-home-ada-code-api/${makeId(number)}.jsonl`;

type Listed = {
  id: string;
  sourceId: string;
  source: string;
  messageCount: number;
  tokenCount: number;
  project: string | null;
};

async function archive(token: string): Promise<Map<string, Listed>> {
  const found = new Map<string, Listed>();
  for (let cursor = ""; ; ) {
    const page = await get(server, `/api/traces?limit=200${cursor && `&cursor=${cursor}`}`, token);
    const { traces, nextCursor } = (await page.json()) as { traces: Listed[]; nextCursor: string | null };
    for (const trace of traces) {
      if (found.has(trace.sourceId)) throw new Error(`${trace.sourceId} is listed twice`);
      found.set(trace.sourceId, trace);
    }
    if (!nextCursor) return found;
    cursor = nextCursor;
  }
}

const token = await logIn(server, userId, "reader");

test("the client is delivered as one file that contains its server's address", async () => {
  const response = await fetch(`${server.url}/spoor.mjs`);
  expect(response.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  const text = await response.text();
  expect(text).toContain(`"${server.url}"`);
  expect(text.match(/^import .* from "(?!node:)/gm)).toBeNull();
  // Without `no-store`, or nobody would keep what the entity tag is compared with.
  expect(response.headers.get("cache-control")).toBe("no-cache");
});

describe("a new machine", () => {
  test("every command that needs a login says how to log in, and ends with 3", async () => {
    for (const command of ["push", "whoami", "status", "watch"]) {
      const { code, errors } = await client.run([command]);
      expect([command, code, errors]).toEqual([command, 3, expect.stringContaining("node spoor.mjs login")]);
    }
  });

  test("a login is approved in the browser, and its token stored at mode 0600", async () => {
    const login = client.start(["login", "--machine", "ada's laptop", "--scopes", "ingest"]);
    const done = ended(login);
    const [address] = await wrote(login, /http:\/\/\S+\/device\?code=\S+/);
    await signIn(page, server, owner);
    await page.goto(address);
    await page.getByText("ada's laptop").first().waitFor();
    await button("Approve").click();
    const { code, output } = await done;
    expect(output).toContain(`Logged in as ${owner.name} <${owner.email}>`);
    expect(code).toBe(0);
    const file = join(client.home, ".config/spoor/settings.json");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    // All that the client does from here on needs no other scope.
    const [stored] = /spoor_\w{36}/.exec(await readFile(file, "utf8")) ?? [];
    expect(await (await get(server, "/api/cli/session", stored)).json()).toMatchObject({ scopes: ["ingest"] });
    const { output: who } = await client.run(["whoami", "--json"]);
    expect(JSON.parse(who)).toMatchObject({ userId, email: owner.email, machine: "ada's laptop" });
    const { output: health, code: healthy } = await client.run(["doctor"]);
    expect([healthy, health]).toEqual([0, expect.stringContaining("matches the server's")]);
    expect(faults).toEqual([]);
  });

  test("a push archives every session, and the next one has nothing new", async () => {
    for (const number of [1, 2, 3])
      await writeBelow(client.home, claudePath(number), toLines(...claudeLines(makeId(number), number)));
    await writeBelow(
      client.home,
      `.codex/sessions/2026/11/01/rollout-2026-11-01T10-00-00-${makeId(4)}.jsonl`,
      toLines(...codexLines(makeId(4), 2)),
    );
    const { code, output } = await client.run(["push"]);
    expect([code, output]).toEqual([0, expect.stringContaining("Sent 4 sessions with 32 messages")]);
    const found = await archive(token);
    expect([...found.keys()].sort()).toEqual([1, 2, 3, 4].map(makeId));
    expect(found.get(makeId(3))).toMatchObject({
      source: "claude-code",
      messageCount: 12,
      tokenCount: 120,
      project: "api",
    });
    expect(found.get(makeId(4))).toMatchObject({
      source: "codex-cli",
      messageCount: 8,
      tokenCount: 40,
      project: "web",
    });
    const again = await client.run(["push", "--json"]);
    expect(JSON.parse(again.output)).toMatchObject({ same: 4, sent: { sessions: 0, jobs: [] } });
  });

  test("a session that grew is sent again; without its record everything is, which changes nothing", async () => {
    await appendFile(join(client.home, claudePath(1)), toLines(...claudeLines(makeId(1), 2).slice(4)));
    const grown = JSON.parse((await client.run(["push", "--json"])).output);
    expect(grown).toMatchObject({ same: 3, sent: { sessions: 1, updated: 1, created: 0 } });
    const forgetful = { XDG_STATE_HOME: join(client.home, "elsewhere") };
    const all = JSON.parse((await client.run(["push", "--json"], forgetful)).output);
    expect(all).toMatchObject({ same: 0, sent: { sessions: 4, created: 0, updated: 0, unchanged: 4 } });
  });

  test("status lists the uploads, and a scan sends nothing but counts", async () => {
    const { output } = await client.run(["status", "--json"]);
    const { jobs } = JSON.parse(output) as { jobs: { status: string }[] };
    expect(jobs.map(({ status }) => status)).toEqual(["succeeded", "succeeded"]);
    const scan = await client.run(["scan", "--show-telemetry"]);
    expect(scan.output).toContain("telemetry report of this scan (sent):");
    const [, submission = ""] = scan.output.split("(sent):");
    for (const secret of [client.home, "/home/", owner.email, makeId(1), "retry", "Bash"])
      expect(submission).not.toContain(secret);
    const off = await client.run(["scan", "--json"], { DO_NOT_TRACK: "1" });
    expect(JSON.parse(off.output)).toMatchObject({ telemetry: { sent: false } });
  });

  test("a session that is compressed in pieces is accepted", async () => {
    // More than the 8 MiB from which on it is, in few messages or in many.
    const [turns, sentences] = isLong ? [3000, 300] : [600, 900];
    const large = claudeLines(makeId(90), turns, { text: "A long question. ".repeat(sentences) });
    await writeBelow(client.home, claudePath(90), toLines(...large));
    const { code, output } = await client.run(["push", "--json"]);
    expect([code, JSON.parse(output).sent]).toEqual([0, expect.objectContaining({ created: 1, written: 4 * turns })]);
    expect((await archive(token)).get(makeId(90))?.messageCount).toBe(4 * turns);
  });
});

describe("the line of the README", () => {
  test("in a fresh home installs, logs in, and sends in the background, and `uninstall` leaves nothing", async ({
    annotate,
  }) => {
    // A systemd that starts the service, as the real one does where there is one.
    const { home, bin, env, start, run, tree } = await makeMachine("", {
      systemctl: `case "$*" in
        *is-active*) echo inactive; exit 3;;
        *enable*) "$HOME/.local/bin/spoor" service run --server ${server.url} >/dev/null 2>&1 & echo $! > "$HOME.pid";;
        *disable*) kill "$(cat "$HOME.pid")";;
      esac`,
    });
    await writeBelow(home, claudePath(400), toLines(...claudeLines(makeId(400), 2)));
    const before = await tree();
    const startedAt = performance.now();
    const line = `curl -fsSO ${server.url}/spoor.mjs && node spoor.mjs install --yes`;
    const node = join(process.execPath, "..");
    const installing = start(["/bin/sh", "-c", line], { PATH: `${bin}:${node}:/usr/bin:/bin` });
    const done = ended(installing);
    const [address] = await wrote(installing, /http:\/\/\S+\/device\?code=\S+/);
    await page.goto(address);
    await button("Approve").click();
    const { code, output, errors } = await done;
    expect([code, errors, output]).toEqual([0, "", expect.stringContaining("Running in the background")]);
    for (;;) {
      if ((await archive(token)).get(makeId(400))?.messageCount === 8) break;
      expect(performance.now() - startedAt).toBeLessThan(60_000);
      await sleep(50);
    }
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    await annotate(`from the pasted line to a readable session: ${seconds} s, with the approval by a program`);
    // The session is readable before the client has asked for its job.
    const logs = async () => (await run(["service", "logs"])).output;
    await expect.poll(logs, { timeout: 20_000, interval: 250 }).toContain("1 new");
    const gone = await run(["uninstall", "--yes"], env);
    expect([gone.code, gone.errors]).toEqual([0, ""]);
    const { "spoor.mjs": _, ...rest } = await tree();
    const { "spoor.mjs": __, ...fresh } = before;
    expect(rest).toEqual(fresh);
  });
});

test("the pictures of an agent's file come to the server with their messages, once, and can be read there", async () => {
  const [pasted, returned, later] = [makePng({ extra: 300_000 }), makePng(), makePng()];
  const image = ({ bytes, mediaType }: typeof pasted) => ({
    type: "image",
    source: { type: "base64", media_type: mediaType, data: bytes.toString("base64") },
  });
  const lines = claudeLines(makeId(500), 3) as { message: object }[];
  const say = (at: number, ...content: object[]) => {
    lines[at] = { ...lines[at], message: { ...lines[at]?.message, content } };
  };
  const give = (turn: number, ...content: object[]) =>
    say(turn * 4 + 3, { type: "tool_result", tool_use_id: `toolu_${turn}`, content });
  say(0, { type: "text", text: "Why is it red?" }, image(pasted));
  give(0, { type: "text", text: "Here" }, image(returned));
  give(1, image(returned));
  say(8, image(later), image(pasted));
  const push = async () => {
    const { code, output, errors } = await other.run(["push", "--json"], { SPOOR_URL: server.url, SPOOR_TOKEN: token });
    expect([code, errors]).toEqual([0, ""]);
    return JSON.parse(output).sent;
  };
  const path = await writeBelow(other.home, claudePath(500), toLines(...lines.slice(0, 8)));
  expect(await push()).toMatchObject({ sessions: 1, pictures: 2, refusedPictures: 0 });
  await appendFile(path, toLines(...lines.slice(8)));
  expect(await push()).toMatchObject({ sessions: 1, pictures: 1 });
  const id = (await archive(token)).get(makeId(500))?.id;
  const { messages } = await (await get(server, `/api/traces/${id}/messages`, token)).json();
  type Named = { metadata: { pictures?: { sha256: string }[] } | null };
  const named = messages.flatMap(({ metadata }: Named) => metadata?.pictures?.map(({ sha256 }) => sha256) ?? []);
  expect(new Set(named)).toEqual(new Set([pasted.sha256, returned.sha256, later.sha256]));
  for (const { bytes, sha256, mediaType } of [pasted, returned, later]) {
    const answer = await get(server, `/api/traces/${id}/pictures/${sha256}`, token);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, mediaType]);
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
  }
});

describe("a push that is killed", () => {
  test("at several moments, and run again, stores everything once", { timeout: 120_000 }, async () => {
    const numbers = Array.from({ length: isLong ? 60 : 20 }, (_, index) => 100 + index);
    for (const number of numbers) {
      const text = "Why does the retry timer fire twice? ".repeat(150);
      await writeBelow(client.home, claudePath(number), toLines(...claudeLines(makeId(number), 40, { text })));
    }
    for (const milliseconds of [120, 200, 300, 450, 700]) {
      const push = client.start(["push"]);
      const gone = ended(push);
      await sleep(milliseconds);
      push.kill("SIGKILL");
      await gone;
    }
    const { code, output, errors } = await client.run(["push"]);
    expect([code, errors, output]).toEqual([0, "", expect.anything()]);
    const found = await archive(token);
    for (const number of numbers) expect(found.get(makeId(number))?.messageCount).toBe(40 * claudeMessagesPerTurn);
  });
});

describe("watch", () => {
  /** In a run that measures time it takes three seconds at most. */
  const patienceMs = isLong ? 3000 : 30_000;

  test("sends new lines soon, of existing and new files", async () => {
    const watching = client.start(["watch"]);
    const gone = ended(watching);
    try {
      await wrote(watching, /Watching/);
      for (const [number, content, messages] of [
        [200, toLines(...claudeLines(makeId(200), 1)), 4],
        [200, toLines(...claudeLines(makeId(200), 2).slice(4)), 8],
        [201, toLines(...claudeLines(makeId(201), 1)), 4],
      ] as const) {
        const startedAt = performance.now();
        await appendFile(await touched(claudePath(number)), content);
        for (;;) {
          if ((await archive(token)).get(makeId(number))?.messageCount === messages) break;
          expect(performance.now() - startedAt).toBeLessThan(patienceMs);
          await sleep(50);
        }
      }
    } finally {
      watching.kill("SIGTERM");
    }
    expect((await gone).code).toBe(130);
  });

  const touched = async (path: string) => {
    await appendFile(join(client.home, path), "");
    return join(client.home, path);
  };
});

describe("a revoked token", () => {
  test("ends a push with 3; after the next login it continues", async () => {
    await client.run(["logout"]);
    await writeBelow(client.home, claudePath(300), toLines(...claudeLines(makeId(300), 1)));
    const revoked = await logIn(server, userId, "short-lived");
    await fetch(`${server.url}/api/cli/session`, { method: "DELETE", headers: { Authorization: `Bearer ${revoked}` } });
    const refused = await client.run(["push"], { SPOOR_TOKEN: revoked });
    expect([refused.code, refused.errors]).toEqual([3, expect.stringContaining("no longer valid")]);
    const { code } = await client.run(["push"], { SPOOR_TOKEN: token });
    expect(code).toBe(0);
    expect((await archive(token)).has(makeId(300))).toBe(true);
  });
});
