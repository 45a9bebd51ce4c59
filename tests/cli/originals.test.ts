import { appendFile, readdir, readFile, rm, stat, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Host } from "../../cli/adapters/adapter.ts";
import { originals } from "../../cli/commands/originals.ts";
import type { Context } from "../../cli/context.ts";
import { countKeptParts } from "../../cli/originals/file-parts.ts";
import type { HeadPart } from "../../cli/originals/format.ts";
import { createIdentity, getFingerprint, pinRecipient, readIdentity, writeIdentity } from "../../cli/originals/keys.ts";
import { openCopy as open } from "../support/originals.ts";
import type { startFake } from "./fake-server.ts";
import { toLines, writeBelow } from "./home.ts";
import { addMachine, pushInside, runInside, worldInside, worldWithCopies } from "./inside.ts";
import { claudeLines, codexLines } from "./sessions.ts";
import { claudePath, makeId } from "./world.ts";

type Fake = Awaited<ReturnType<typeof startFake>>;

const openCopy = (fake: Fake, key: string, secret: string) => open(fake.originals, key, secret);

const switchOn = (host: Host, values: Context["values"] = {}) =>
  runInside(originals, host, { words: ["on"], values: { yes: true, ...values } });

const key = (number: number) => `claude-code/${makeId(number)}`;
const at = (home: string, number: number) => join(home, claudePath(number));
const sessionLine = (number: number, text = "More.") =>
  toLines(...claudeLines(makeId(number), 1, { text })).replaceAll(`${makeId(number)}-0-`, `${makeId(number)}-${text}-`);

describe("a push with exact copies on", () => {
  test("stores the files byte for byte, with sub-agents and tool results, so that the age library alone gets them back", async () => {
    const { fake, host, home, secret } = await worldWithCopies(1);
    const folder = claudePath(1).replace(/\.jsonl$/, "");
    const odd = Buffer.from([0x7b, 0x7d, 0x0a, 0x00, 0xff, 0xfe, 0x0a]);
    await writeBelow(home, `${folder}/subagents/agent-a1.jsonl`, toLines(...claudeLines("agent", 1)));
    await writeBelow(home, `${folder}/subagents/agent-a1.meta.json`, `{"agentType":"Explore"}`);
    await writeBelow(home, `${folder}/tool-results/toolu_1.txt`, odd);
    const pushed = await pushInside(host);
    expect(pushed).toMatchObject({ code: 0, errors: "", originals: { copies: 1, refused: 0 } });
    const { head, files, stored } = await openCopy(fake, key(1), secret);
    const paths = [
      claudePath(1),
      `${folder}/subagents/agent-a1.jsonl`,
      `${folder}/subagents/agent-a1.meta.json`,
      `${folder}/tool-results/toolu_1.txt`,
    ];
    expect([...files.keys()]).toEqual(paths.map((path) => path.replace(".claude/", "")));
    for (const path of paths) expect(files.get(path.replace(".claude/", ""))).toEqual(await readFile(join(home, path)));
    expect(head).toMatchObject({
      agent: "claude-code",
      agentVersion: "2.1.0",
      sourceId: makeId(1),
      home: "~/.claude",
      cwd: "/home/ada/code/api",
    });
    expect([stored.files, stored.plainBytes]).toEqual([
      4,
      [...files.values()].reduce((sum, one) => sum + one.length, 0),
    ]);
  });

  test("tells the server nothing that can be read", async () => {
    const { fake, host, home } = await worldWithCopies(1);
    const secret = "planted-in-the-session-8842";
    await appendFile(at(home, 1), sessionLine(1, secret));
    const bodies: Buffer[] = [];
    fake.failWith(({ url = "" }, body) => {
      if (url.startsWith("/api/originals")) bodies.push(body, Buffer.from(url));
      return undefined;
    });
    await pushInside(host);
    const sent = Buffer.concat(bodies);
    expect(sent.length).toBeGreaterThan(1000);
    for (const text of [secret, "projects/", "home-ada", ".jsonl", "subagents"])
      expect(sent.includes(text)).toBe(false);
  });

  test("sends nothing of an unchanged session, and of a grown one only its new bytes", async () => {
    const { fake, host, home, secret } = await worldWithCopies(1);
    await pushInside(host);
    const before = fake.originals.parts.size;
    expect(await pushInside(host)).toMatchObject({ originals: { copies: 0, wireBytes: 0 } });
    await appendFile(at(home, 1), sessionLine(1));
    expect(await pushInside(host)).toMatchObject({ originals: { copies: 1 } });
    expect(fake.originals.parts.size).toBe(before + 1);
    const { files } = await openCopy(fake, key(1), secret);
    expect([...files.values()]).toEqual([await readFile(at(home, 1))]);
  });

  test("of 60 MB and a new line sends at most 20 KB", { timeout: 60_000 }, async () => {
    const { fake, host, home, secret } = await worldWithCopies(1);
    const line = toLines({ type: "progress", sessionId: makeId(1), data: "x".repeat(100_000) });
    for (let count = 0; count < 600; count += 100) await appendFile(at(home, 1), line.repeat(100));
    await pushInside(host);
    await appendFile(at(home, 1), sessionLine(1));
    fake.originals.wireBytes = 0;
    expect(await pushInside(host)).toMatchObject({ originals: { copies: 1 } });
    expect(fake.originals.wireBytes).toBeLessThan(20_000);
    const { files } = await openCopy(fake, key(1), secret);
    expect([...files.values()][0]?.equals(await readFile(at(home, 1)))).toBe(true);
  });

  test("merges small parts once the session was quiet for five minutes", async () => {
    const { fake, host, home, secret } = await worldWithCopies(1);
    for (let count = 0; count < 4; count++) {
      await appendFile(at(home, 1), sessionLine(1, `turn-${count}`));
      await pushInside(host);
    }
    expect(fake.originals.copies.get(key(1))?.parts).toHaveLength(4);
    const old = new Date(Date.now() - 301_000);
    await utimes(at(home, 1), old, old);
    await pushInside(host);
    expect(fake.originals.copies.get(key(1))?.parts).toHaveLength(1);
    const { files } = await openCopy(fake, key(1), secret);
    expect([...files.values()]).toEqual([await readFile(at(home, 1))]);
    expect(await pushInside(host)).toMatchObject({ originals: { copies: 0, wireBytes: 0 } });
  });

  test("merges more than 32 small parts, also of a session that goes on", () => {
    const [small, full] = [10, 1024 * 1024].map((bytes) => ({ sha256: "", bytes }));
    const now = Date.now();
    const kept = (count: number) => countKeptParts([full, ...Array(count).fill(small)] as HeadPart[], now, now);
    expect([kept(32), kept(33)]).toEqual([33, 1]);
  });

  test("sends a rewritten file anew, also a shorter one", async () => {
    const { fake, host, home, secret } = await worldWithCopies(1);
    await pushInside(host);
    const text = await readFile(at(home, 1), "utf8");
    await writeFile(at(home, 1), text.replace("retry", "RETRY"));
    await pushInside(host);
    expect([...(await openCopy(fake, key(1), secret)).files.values()]).toEqual([await readFile(at(home, 1))]);
    await truncate(at(home, 1), text.indexOf("\n") + 1);
    await pushInside(host);
    expect([...(await openCopy(fake, key(1), secret)).files.values()]).toEqual([await readFile(at(home, 1))]);
  });

  test("keeps files that the agent has deleted, and the copy of a session whose file is gone", async () => {
    const { fake, host, home, secret } = await worldWithCopies(1);
    const result = `${claudePath(1).replace(/\.jsonl$/, "")}/tool-results/a.txt`;
    await writeBelow(home, result, "a result");
    await pushInside(host);
    await rm(join(home, result));
    await appendFile(at(home, 1), sessionLine(1));
    await pushInside(host);
    expect((await openCopy(fake, key(1), secret)).files.get(result.replace(".claude/", ""))?.toString()).toBe(
      "a result",
    );
    await rm(at(home, 1));
    await pushInside(host);
    expect(fake.originals.copies.has(key(1))).toBe(true);
  });

  test("that is stopped between parts goes on where it was, and shows no half copy meanwhile", async () => {
    const { fake, host, home, secret } = await worldWithCopies(1);
    const line = toLines({ type: "progress", sessionId: makeId(1), data: "x".repeat(100_000) });
    await appendFile(at(home, 1), line.repeat(50));
    let parts = 0;
    fake.failWith(({ url = "" }) =>
      url.includes("/parts/") && ++parts > 2 ? { status: 400, body: { ok: false, detail: "Stopped." } } : undefined,
    );
    const stopped = await pushInside(host);
    expect([stopped.code, stopped.errors]).toEqual([0, expect.stringMatching(/^Can't send .*: Stopped\.\n$/)]);
    expect([fake.originals.parts.size, fake.originals.copies.size]).toEqual([2, 0]);
    fake.failWith(() => undefined);
    await pushInside(host);
    expect(fake.originals.parts.size).toBe(fake.originals.copies.get(key(1))?.parts.length);
    expect([...(await openCopy(fake, key(1), secret)).files.values()]).toEqual([await readFile(at(home, 1))]);
  });

  test("sends parts again that the server has removed, since no manifest named them", async () => {
    const { fake, host, home, secret } = await worldWithCopies(1);
    fake.failWith(({ method, url = "" }) =>
      method === "PUT" && url.includes("claude-code")
        ? { status: 400, body: { ok: false, detail: "Stopped." } }
        : undefined,
    );
    await pushInside(host);
    fake.originals.parts.clear();
    fake.failWith(() => undefined);
    expect(await pushInside(host)).toMatchObject({ errors: "", originals: { copies: 1 } });
    expect([...(await openCopy(fake, key(1), secret)).files.values()]).toEqual([await readFile(at(home, 1))]);
  });

  test("keeps a file that the agent has deleted where the server lacks a new part of the main one", async () => {
    const { fake, host, home, secret } = await worldWithCopies(1);
    const result = `${claudePath(1).replace(/\.jsonl$/, "")}/tool-results/a.txt`;
    await writeBelow(home, result, "a result");
    await pushInside(host);
    const stored = new Set(fake.originals.parts.keys());
    await rm(join(home, result));
    await appendFile(at(home, 1), sessionLine(1));
    fake.failWith(({ method, url = "" }) =>
      method === "PUT" && url.includes("claude-code")
        ? { status: 400, body: { ok: false, detail: "Stopped." } }
        : undefined,
    );
    await pushInside(host);
    for (const sha256 of fake.originals.parts.keys()) if (!stored.has(sha256)) fake.originals.parts.delete(sha256);
    fake.failWith(() => undefined);
    expect(await pushInside(host)).toMatchObject({ errors: "", originals: { copies: 1 } });
    const { files } = await openCopy(fake, key(1), secret);
    expect(files.get(claudePath(1).replace(".claude/", ""))).toEqual(await readFile(at(home, 1)));
    expect(files.get(result.replace(".claude/", ""))?.toString()).toBe("a result");
  });

  test("goes on after a session whose stored copy can't be decrypted, and one that the server refuses", async () => {
    const { fake, host } = await worldWithCopies(3);
    const head = Buffer.from("age-encryption.org/v1\nforged").toString("base64");
    const { recipient = "" } = fake.originals;
    const forged = { ...{ version: "v0", recipient, files: 1, plainBytes: 1, head, parts: [] }, machine: "m" };
    fake.originals.copies.set(key(1), { ...forged, updatedAt: new Date().toISOString() });
    fake.failWith(({ method, url = "" }) =>
      method === "PUT" && url.endsWith(makeId(2)) ? { status: 400, body: { ok: false, detail: "No." } } : undefined,
    );
    const pushed = await pushInside(host);
    expect(pushed).toMatchObject({ code: 0, originals: { copies: 1 } });
    expect(pushed.errors.match(/^Can't send an exact copy of /gm)).toHaveLength(2);
    expect(fake.originals.copies.has(key(3))).toBe(true);
    expect(await pushInside(host, { replace: [makeId(1)] })).toMatchObject({ originals: { copies: 1 } });
    expect(fake.originals.copies.get(key(1))?.version).not.toBe("v0");
  });

  test("takes an answer that was lost for what it was", async () => {
    const { fake, host, home } = await worldWithCopies(1);
    await pushInside(host);
    await appendFile(at(home, 1), sessionLine(1));
    // The request is handled, and then repeated.
    let isLost = false;
    const { handle } = fake.originals;
    fake.originals.handle = (request, response, body) => {
      if (isLost || request.method !== "PUT" || !request.url?.includes("claude-code"))
        return handle(request, response, body);
      isLost = true;
      const nobody = { writeHead: () => nobody, end: () => nobody };
      handle(request, nobody as never, body);
      request.socket.destroy();
      return true;
    };
    expect(await pushInside(host)).toMatchObject({ errors: "", originals: { copies: 1, refused: 0 } });
    expect(await pushInside(host)).toMatchObject({ errors: "", originals: { copies: 0, wireBytes: 0 } });
  });

  test("has Codex' rollouts as they are", async () => {
    const { fake, host, home, secret } = await worldWithCopies(0);
    const id = "019a0000-0000-7000-8000-000000000001";
    const path = `.codex/sessions/2026/11/01/rollout-2026-11-01T10-00-00-${id}.jsonl`;
    await writeBelow(home, path, toLines(...codexLines(id, 2)));
    await pushInside(host);
    const { head, files } = await openCopy(fake, `codex-cli/${id}`, secret);
    expect(files.get(path.replace(".codex/", ""))).toEqual(await readFile(join(home, path)));
    expect(head).toMatchObject({ home: "~/.codex", agentVersion: "0.60.0", cwd: "/home/ada/code/web" });
  });

  test("never keeps a session from being sent, whatever the server does with copies", async () => {
    const { fake, host, home } = await worldWithCopies(1);
    for (const [number, status] of [500, 403, 413, 404].entries()) {
      fake.failWith(({ url = "" }) =>
        url.startsWith("/api/originals") ? { status, body: { ok: false, error: "x", detail: "No." } } : undefined,
      );
      await appendFile(at(home, 1), sessionLine(1, `turn-${number}`));
      const pushed = await pushInside(host, { patience: "0" });
      expect(pushed).toMatchObject({ code: 0, sent: { sessions: 1 } });
      expect(pushed.errors).toMatch(/^Exact copies were not sent(?:: | because)/);
    }
  });
});

test("a machine that has lost its state replaces what it has rewritten", async () => {
  const { fake, host, home, secret } = await worldWithCopies(1);
  await pushInside(host);
  await rm(join(home, ".local/state"), { recursive: true });
  await writeFile(at(home, 1), (await readFile(at(home, 1), "utf8")).replace("retry", "RETRY"));
  const later = new Date(Date.now() + 1000);
  await utimes(at(home, 1), later, later);
  expect(await pushInside(host)).toMatchObject({ errors: "", originals: { copies: 1, refused: 0 } });
  expect([...(await openCopy(fake, key(1), secret)).files.values()]).toEqual([await readFile(at(home, 1))]);
});

describe("exact copies of projects", () => {
  test("are off until chosen, and of chosen projects only", async () => {
    const { fake, host, home } = await worldInside(1);
    await pushInside(host);
    expect(fake.originals.copies.size).toBe(0);
    expect(fake.requests.filter((one) => one.includes("originals"))).toEqual([]);
    await writeBelow(home, claudePath(2), toLines(...claudeLines(makeId(2), 1, { cwd: "/srv/web" })));
    await switchOn(host, { project: ["/srv/*"] });
    await pushInside(host);
    expect([...fake.originals.copies.keys()]).toEqual([key(2)]);
    await runInside(originals, host, { words: ["off"], values: { project: ["/srv/web"] } });
    await appendFile(at(home, 2), sessionLine(2));
    expect(await pushInside(host)).toMatchObject({ originals: { copies: 0 } });
    await runInside(originals, host, { words: ["off"] });
    expect(await pushInside(host)).not.toHaveProperty("originals");
  });

  test("are not made of a project that is left out", async () => {
    const { fake, host, home } = await worldWithCopies(1);
    await writeBelow(home, claudePath(2), toLines(...claudeLines(makeId(2), 1, { cwd: join(home, "secret") })));
    await writeBelow(home, "secret/.spoorignore", "");
    await pushInside(host);
    expect([...fake.originals.copies.keys()]).toEqual([key(1)]);
  });
});

describe("two machines", () => {
  const push = (fake: Fake, { host, machine }: { host: Host; machine: string }) => {
    fake.originals.machine = machine;
    return pushInside(host);
  };

  test("take turns at a session, each adding only what is new", async () => {
    const { fake, host, home, secret } = await worldWithCopies(1);
    const a = { host, machine: "a" };
    await push(fake, a);
    // It went on in another folder there, from an exact copy.
    const elsewhere = claudePath(1).replace("-home-ada-code-api", "-srv-api");
    const b = { host: await addMachine(fake.url, { [elsewhere]: await readFile(at(home, 1)) }), machine: "b" };
    await writeIdentity(b.host, (await readIdentity(host)) ?? (await createIdentity()));
    await switchOn(b.host);
    await appendFile(join(b.host.home, elsewhere), sessionLine(1, "on-b"));
    const parts = fake.originals.parts.size;
    expect(await push(fake, b)).toMatchObject({ errors: "", originals: { copies: 1 } });
    expect(fake.originals.parts.size).toBe(parts + 1);
    await writeFile(at(home, 1), await readFile(join(b.host.home, elsewhere)));
    await appendFile(at(home, 1), sessionLine(1, "on-a"));
    expect(await push(fake, a)).toMatchObject({ errors: "", originals: { copies: 1 } });
    const { files } = await openCopy(fake, key(1), secret);
    expect([...files.values()]).toEqual([await readFile(at(home, 1))]);
  });

  test("never replace each other's newer copy, and say so once", async () => {
    const { fake, host, home, secret } = await worldWithCopies(1);
    const a = { host, machine: "a" };
    await push(fake, a);
    // Two machines may have one name.
    const b = { host: await addMachine(fake.url, { [claudePath(1)]: await readFile(at(home, 1)) }), machine: "a" };
    await writeIdentity(b.host, (await readIdentity(host)) ?? (await createIdentity()));
    await switchOn(b.host);
    await appendFile(at(b.host.home, 1), sessionLine(1, "on-b"));
    await push(fake, b);
    const stored = fake.originals.copies.get(key(1));
    await appendFile(at(home, 1), sessionLine(1, "on-a-with-a-longer-text".repeat(200)));
    const later = new Date(Date.now() + 1000);
    await utimes(at(home, 1), later, later);
    const refused = await push(fake, a);
    expect(refused).toMatchObject({ code: 0, originals: { copies: 0, refused: 1 } });
    expect(refused.errors).toMatch(
      /^! The exact copy of claude-code \S+ was not replaced: on "a", the session continued differently\. .*--replace \S+\n$/,
    );
    expect(fake.originals.copies.get(key(1))).toBe(stored);
    expect(await push(fake, a)).toMatchObject({ errors: "", originals: { copies: 0, refused: 0 } });
    await pushInside(host, { replace: [makeId(1)] });
    expect([...(await openCopy(fake, key(1), secret)).files.values()]).toEqual([await readFile(at(home, 1))]);
  });

  test("keep a copy that goes on where this machine's session ends", async () => {
    const { fake, host, home } = await worldWithCopies(1);
    await appendFile(at(home, 1), sessionLine(1, "later"));
    await push(fake, { host, machine: "a" });
    const stored = fake.originals.copies.get(key(1));
    const b = {
      host: await addMachine(fake.url, { [claudePath(1)]: toLines(...claudeLines(makeId(1), 1)) }),
      machine: "b",
    };
    await writeIdentity(b.host, (await readIdentity(host)) ?? (await createIdentity()));
    await switchOn(b.host);
    expect((await push(fake, b)).errors).toContain("the session continued after the end of this machine's files");
    expect(fake.originals.copies.get(key(1))).toBe(stored);
  });

  test("with the public key alone can add a copy, and can't read one", async () => {
    const { fake, host, secret, recipient } = await worldWithCopies(1);
    await push(fake, { host, machine: "a" });
    const b = {
      host: await addMachine(fake.url, { [claudePath(2)]: toLines(...claudeLines(makeId(2), 1)) }),
      machine: "b",
    };
    await pinRecipient(b.host, recipient);
    await switchOn(b.host);
    expect(await push(fake, b)).toMatchObject({ errors: "", originals: { copies: 1 } });
    const { files } = await openCopy(fake, key(2), secret);
    expect([...files.values()]).toEqual([await readFile(at(b.host.home, 2))]);
    await appendFile(at(b.host.home, 2), sessionLine(2));
    expect(await push(fake, b)).toMatchObject({ errors: "", originals: { copies: 1 } });
    const verified = await runInside(originals, b.host, { words: ["verify"] });
    expect([verified.code, verified.message]).toEqual([
      1,
      expect.stringContaining("This machine can't decrypt copies"),
    ]);
  });

  test("with the public key alone never replace a longer copy, even of a machine with the same name", async () => {
    const { fake, host, home, recipient } = await worldWithCopies(1);
    await appendFile(at(home, 1), sessionLine(1));
    await push(fake, { host, machine: "a" });
    const stored = fake.originals.copies.get(key(1));
    const b = { host: await addMachine(fake.url, { [claudePath(1)]: sessionLine(1, "Other.") }), machine: "a" };
    await pinRecipient(b.host, recipient);
    await switchOn(b.host);
    const later = new Date(Date.now() + 1000);
    await utimes(at(b.host.home, 1), later, later);
    expect((await push(fake, b)).errors).toContain("this machine can't decrypt that copy");
    expect(fake.originals.copies.get(key(1))).toBe(stored);
  });

  test("encrypt nothing to a key that only the server names", async () => {
    const { fake, host, home, recipient } = await worldWithCopies(1);
    const other = (await createIdentity()).recipient;
    fake.originals.recipient = other;
    await appendFile(at(home, 1), sessionLine(1));
    const { code, errors } = await pushInside(host);
    expect(code).toBe(0);
    const show = (one: string) => getFingerprint(one).replace(/^(....)/, "$1 ");
    expect(errors).toContain(
      `The server's key for exact copies (${show(other)}) is not the one that this machine trusts (${show(recipient)})`,
    );
    expect(fake.originals.copies.size).toBe(0);
  });

  test("without a key send no copy, and say where to get it", async () => {
    const { fake, host, home } = await worldWithCopies(1);
    await rm(join(home, ".config/spoor/originals.key"));
    const { code, errors } = await pushInside(host);
    expect([code, errors]).toEqual([0, expect.stringContaining("this machine has no key for them")]);
    expect(fake.originals.copies.size).toBe(0);
  });
});

test("no file of keys or copies can be read by others", async () => {
  const { host, home, recipient } = await worldWithCopies(1);
  await pushInside(host);
  await pinRecipient(host, recipient);
  const state = join(home, ".local/state/spoor");
  const folders = (await readdir(state)).filter((name) => name.startsWith("originals-"));
  const copies = await Promise.all(
    folders.map(async (name) => (await readdir(join(state, name))).map((one) => join(state, name, one))),
  );
  const config = join(home, ".config/spoor");
  const paths = [join(config, "originals.key"), join(config, "originals.recipient"), ...copies.flat()];
  expect(paths).toHaveLength(3);
  for (const path of paths) expect((await stat(path)).mode & 0o777).toBe(0o600);
});
