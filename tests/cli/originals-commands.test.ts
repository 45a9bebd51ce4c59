import { readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { armor, Decrypter, Encrypter } from "age-encryption";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Host } from "../../cli/adapters/adapter.ts";
import { install as installCommand } from "../../cli/commands/install.ts";
import { originals } from "../../cli/commands/originals.ts";
import type { Context } from "../../cli/context.ts";
import { createIdentity, readIdentity, readRecipient, writeIdentity } from "../../cli/originals/keys.ts";
import { running } from "../../cli/program.ts";
import { Terminal } from "../../cli/terminal/terminal.ts";
import { makeHome, writeBelow } from "./home.ts";
import { addMachine, pushInside, runInside, worldInside } from "./inside.ts";
import { claudePath, makeId } from "./world.ts";

const run = (host: Host, words: string[], more: Parameters<typeof runInside>[2] = {}) =>
  runInside(originals, host, { words, ...more });

const yes: Context["values"] = { yes: true };
const keyFile = (host: Host) => join(host.home, ".config/spoor/originals.key");
const readSettings = async (host: Host) =>
  JSON.parse(await readFile(join(host.home, ".config/spoor/settings.json"), "utf8")) as { originals?: unknown };

/** The phrase that was printed. */
const phraseIn = (output: string) =>
  (output.match(/^ *(?:[A-Z0-9]{5} )+[A-Z0-9]+$/gm) ?? []).join(" ").trim().replace(/\s+/g, " ");

describe("originals on", () => {
  test("makes a key, shows its phrase, and asks for it back before anything is switched on", async () => {
    const { fake, host } = await worldInside(1);
    const typed: string[] = [];
    const answers = (question: string, output: string) => {
      typed.push(question);
      return typed.length === 1 ? "wrong wrong" : phraseIn(output).toLowerCase();
    };
    const { code, output, errors } = await run(host, ["on"], { columns: 100, answers });
    expect([code, typed.length]).toEqual([0, 2]);
    expect(errors).toContain("That is not the recovery phrase.");
    expect(output).toContain("If you lose both, nobody can decrypt the copies");
    const identity = await readIdentity(host);
    expect(phraseIn(output).replaceAll(" ", "")).toBe(identity?.secret.replace("AGE-SECRET-KEY-1", ""));
    expect(await readFile(keyFile(host), "utf8")).toMatch(
      /^# created: \S+\n# public key: age1\w+\nAGE-SECRET-KEY-1\w+\n$/,
    );
    expect((await stat(keyFile(host))).mode & 0o777).toBe(0o600);
    expect(fake.originals.recipient).toBe(identity?.recipient);
    expect((await readSettings(host)).originals).toEqual([]);
  });

  test("with a phrase that is wrong three times makes no key and switches nothing on", async () => {
    const { fake, host } = await worldInside(1);
    const { code, message } = await run(host, ["on"], { columns: 100, answers: () => "AAAAA BBBBB" });
    expect([code, message]).toEqual([1, "The phrase was not confirmed, so no key was created."]);
    expect([await readRecipient(host), fake.originals.recipient]).toEqual([undefined, undefined]);
    expect(await readdir(join(host.home, ".config/spoor")).catch(() => [])).not.toContain("settings.json");
  });

  test("without a terminal needs --yes", async () => {
    const { host } = await worldInside(1);
    expect(await run(host, ["on"])).toMatchObject({ code: 2, message: expect.stringContaining("originals on --yes") });
    expect(await run(host, ["on"], { values: yes })).toMatchObject({ code: 0 });
  });

  test("on another machine shows the fingerprint, and trusts the key only after a yes", async () => {
    const { fake, host } = await worldInside(1);
    await run(host, ["on"], { values: yes });
    const shown = /Fingerprint {2}(\S+ \S+)/.exec((await run(host, ["key", "show"])).output)?.[1];
    const other = await addMachine(fake.url);
    const asked = await run(other, ["on"], { columns: 100, answers: () => "n" });
    expect([asked.code, asked.message]).toEqual([1, "The key was not trusted, so exact copies stay off."]);
    expect(asked.output).toContain(`  Fingerprint  ${shown}\n  Public key   ${fake.originals.recipient}\n`);
    expect(await readRecipient(other)).toBeUndefined();
    expect(await run(other, ["on"], { columns: 100, answers: () => "y" })).toMatchObject({ code: 0 });
    expect(await readRecipient(other)).toBe(fake.originals.recipient);
    expect(await readIdentity(other)).toBeUndefined();
    expect((await run(other, ["key", "show"])).output).toContain("this machine can't decrypt copies");
  });

  test("keeps its key where the answer to storing it was lost", async () => {
    const { fake, host } = await worldInside(1);
    let isLost = false;
    const { handle } = fake.originals;
    fake.originals.handle = (request, response, body) => {
      if (isLost || request.method !== "PUT" || request.url !== "/api/originals/key")
        return handle(request, response, body);
      isLost = true;
      const nobody = { writeHead: () => nobody, end: () => nobody };
      handle(request, nobody as never, body);
      request.socket.destroy();
      return true;
    };
    expect(await run(host, ["on"], { values: yes })).toMatchObject({ code: 0 });
    expect(isLost).toBe(true);
    expect((await readIdentity(host))?.recipient).toBe(fake.originals.recipient);
  });

  test("refuses a later key of the server, until somebody takes it by hand", async () => {
    const { fake, host } = await worldInside(1);
    await run(host, ["on"], { values: yes });
    const { recipient } = await createIdentity();
    fake.originals.recipient = recipient;
    expect(await run(host, ["on"], { values: yes })).toMatchObject({
      code: 1,
      message: expect.stringContaining("The server's key for exact copies"),
    });
    await run(host, ["key", "import", recipient]);
    expect(await run(host, ["on"], { values: yes })).toMatchObject({ code: 0 });
    expect(
      (await readdir(join(host.home, ".config/spoor"))).filter((name) => name.startsWith("originals.key.")),
    ).toHaveLength(1);
  });

  test("--new-key replaces a lost key, and copies what is still here under the new one", async () => {
    const { fake, host } = await worldInside(1);
    await run(host, ["on"], { values: yes });
    await pushInside(host);
    const before = fake.originals.recipient;
    await rm(keyFile(host));
    const { output } = await run(host, ["on"], { values: { ...yes, "new-key": true } });
    expect(output).toMatch(/Copies made with the old key \(\w{4} \w{4}\) can only be decrypted with the old key\./);
    expect(fake.originals.recipient).not.toBe(before);
    expect(await pushInside(host)).toMatchObject({ originals: { copies: 1, refused: 0 } });
    expect(await run(host, ["verify"])).toMatchObject({ code: 0, errors: "" });
  });

  test("says what a token of a variable lacks, and a server that is too old", async () => {
    const { fake, host } = await worldInside(1);
    fake.originals.scopes = ["ingest", "read"];
    expect(await run(host, ["on"], { values: yes })).toMatchObject({
      code: 3,
      message: expect.stringContaining("SPOOR_TOKEN does not have the scope originals"),
    });
    fake.failWith(({ url }) => (url === "/api/limits" ? { status: 200, body: { ok: true } } : undefined));
    expect(await run(host, ["on"], { values: yes })).toMatchObject({
      code: 1,
      message: expect.stringContaining("does not support exact copies"),
    });
  });

  test("logs in again, with the scope and the machine's name, where the login has none", async () => {
    const { fake, host } = await worldInside(1);
    fake.originals.scopes = ["ingest", "read", "delete"];
    delete host.env.SPOOR_TOKEN;
    let asked: unknown;
    fake.failWith(({ url = "" }, body) => {
      if (url.startsWith("/api/cli/device/start")) {
        const { machine, scopes } = JSON.parse(body.toString());
        asked = { machine, scopes };
        const verificationUri = `${fake.url}/device`;
        return {
          status: 200,
          body: { ok: true, deviceCode: "d", userCode: "WDJB-MJHT", verificationUri, interval: 0.05 },
        };
      }
      if (!url.startsWith("/api/cli/device/poll")) return undefined;
      fake.originals.scopes = ["ingest", "read", "delete", "originals"];
      const user = { name: "Ada", email: "ada@example.org" };
      return {
        status: 200,
        body: { ok: true, status: "approved", token: `spoor_${"a".repeat(36)}`, userId: "u1", user },
      };
    });
    const settings = {
      deviceId: "d",
      server: fake.url,
      accounts: { [fake.url]: { token: "spoor_old", userId: "u1", machine: "laptop" } },
    };
    await writeBelow(host.home, ".config/spoor/settings.json", JSON.stringify(settings));
    expect(await run(host, ["on"], { values: { ...yes, "no-browser": true } })).toMatchObject({ code: 0 });
    expect(asked).toEqual({ machine: "laptop", scopes: ["ingest", "read", "delete", "originals"] });
  });
});

describe("originals key", () => {
  test("goes to another machine by its phrase, and a wrong one changes nothing", async () => {
    const { fake, host } = await worldInside(1);
    await run(host, ["on"], { values: yes });
    const { phrase } = JSON.parse((await run(host, ["key", "export"], { values: { json: true } })).output);
    const other = await addMachine(fake.url);
    for (const wrong of [
      phrase.slice(0, -1),
      phrase.replace(/^./, (first: string) => (first === "Q" ? "P" : "Q")),
      "",
    ]) {
      const refused = await run(other, ["key", "import"], { columns: 80, answers: () => wrong });
      expect([refused.code, refused.message]).toEqual([1, expect.stringContaining("Nothing was changed.")]);
    }
    expect(await readIdentity(other)).toBeUndefined();
    await run(other, ["key", "import"], { columns: 80, answers: () => ` ${phrase.toLowerCase()} ` });
    expect(await readIdentity(other)).toEqual(await readIdentity(host));
    expect((await stat(keyFile(other))).mode & 0o777).toBe(0o600);
  });

  test("goes into a file that the age library opens with the passphrase", { timeout: 60_000 }, async () => {
    const { host } = await worldInside(1);
    await run(host, ["on"], { values: yes });
    const passphrase = "correct horse battery";
    const exported = await run(host, ["key", "export", "key.age"], { columns: 80, answers: () => passphrase });
    expect(exported).toMatchObject({ code: 0 });
    const path = join(host.home, "key.age");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const decrypter = new Decrypter();
    decrypter.addPassphrase(passphrase);
    expect(await decrypter.decrypt(await readFile(path), "text")).toContain((await readIdentity(host))?.secret);
  });

  test("comes from a sealed file, also an armored one, with the right passphrase only", async () => {
    const identity = await createIdentity();
    const encrypter = new Encrypter();
    encrypter.setPassphrase("correct horse battery");
    encrypter.setScryptWorkFactor(10);
    const sealed = await encrypter.encrypt(`# a comment\n${identity.secret}\n`);
    for (const bytes of [sealed, Buffer.from(armor.encode(sealed))]) {
      const host = await makeHome({ "key.age": Buffer.from(bytes) });
      const wrong = await run(host, ["key", "import", "key.age"], { columns: 80, answers: () => "another passphrase" });
      expect([wrong.code, wrong.message]).toEqual([1, expect.stringContaining("The passphrase is wrong")]);
      expect(await readIdentity(host)).toBeUndefined();
      // A script gives it on standard input.
      expect(await run(host, ["key", "import", "key.age"], { answer: "correct horse battery" })).toMatchObject({
        code: 0,
      });
      expect(await readIdentity(host)).toEqual(identity);
    }
  });

  test("refuses short and mistyped passphrases, and a file that is there", async () => {
    const { host } = await worldInside(1);
    await writeIdentity(host, await createIdentity());
    expect(await run(host, ["key", "export", "a.age"], { answer: "short" })).toMatchObject({ code: 2 });
    let asked = 0;
    const mistyped = await run(host, ["key", "export", "a.age"], {
      columns: 80,
      answers: () => `passphrase ${asked++}`,
    });
    expect([mistyped.code, mistyped.message]).toEqual([1, "The passphrases do not match. Nothing was written."]);
    expect(await readdir(host.home)).not.toContain("a.age");
  });
});

test("a passphrase is not shown while it is typed, and can be corrected", async () => {
  const modes: boolean[] = [];
  const input = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (isRaw: boolean) => void modes.push(isRaw),
  });
  let shown = "";
  const typed = ["pasx\u007fs", "again"];
  const stream = {
    isTTY: true,
    on: () => {},
    write(text: string) {
      shown += text;
      if (text.endsWith(": ")) for (const character of `${typed.shift()}\r`) input.write(character);
    },
  };
  const terminal = new Terminal(stream, stream, { isJson: false, env: {}, input: () => input as never });
  const { signal } = new AbortController();
  expect(await terminal.askText("Passphrase:", signal, true)).toBe("pass");
  expect(await terminal.askText("Repeat:", signal, true)).toBe("again");
  expect([shown, modes]).toEqual(["Passphrase: \nRepeat: \n", [true, false, true, false]]);
});

describe("originals verify", () => {
  test("finds copies whole and the same, also of sessions that went on or are gone", async () => {
    const { host, home } = await worldInside(3);
    await run(host, ["on"], { values: yes });
    await pushInside(host);
    await rm(join(home, claudePath(1)));
    await writeFile(join(home, claudePath(2)), `${await readFile(join(home, claudePath(2)), "utf8")}{}\n`);
    const { code, output, errors } = await run(host, ["verify"]);
    expect([code, errors]).toEqual([0, ""]);
    expect(output).toMatch(/^3 of 3 copies downloaded and decrypted:\n/);
    for (const told of ["1  identical to", "1  the beginning of", "1  intact; the agent's files are not on"])
      expect(output).toContain(`  ${told}`);
  });

  test("tells a damaged copy, one of another session, and one that differs from the disk", async () => {
    const { fake, host, home } = await worldInside(4);
    await run(host, ["on"], { values: yes });
    await pushInside(host);
    const copy = (number: number) => {
      const found = fake.originals.copies.get(`claude-code/${makeId(number)}`);
      if (!found) throw new Error("no copy");
      return found;
    };
    const [part = ""] = copy(1).parts;
    const bytes = Buffer.from(fake.originals.parts.get(part) ?? "");
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
    fake.originals.parts.set(part, bytes);
    copy(2).head = copy(3).head;
    const path = join(home, claudePath(4));
    const { atime, mtime } = await stat(path);
    await writeFile(path, (await readFile(path, "utf8")).replace("retry", "RETRY"));
    await utimes(path, atime, mtime);
    const { code, errors } = await run(host, ["verify"], { values: { all: true } });
    expect(code).toBe(1);
    expect(errors.split("\n").sort()).toEqual([
      "",
      expect.stringMatching(/^! claude-code \S+1: The server returned wrong bytes for \S+1\.jsonl\.$/),
      expect.stringMatching(/^! claude-code \S+2: it is a copy of \S+3$/),
      expect.stringMatching(/^! claude-code \S+4: differs from the files on this machine$/),
    ]);
  });
});

test("originals status tells what is on, which key, and what the server has", async () => {
  const { host } = await worldInside(3);
  expect((await run(host, ["status"])).output).toMatch(/^Exact copies are off\. Turn them on with: .*originals on\n$/);
  await run(host, ["on"], { values: { ...yes, project: ["api"] } });
  await pushInside(host);
  const { output } = await run(host, []);
  expect(output).toContain("Exact copies are on.\n  off  for **\n  on   for api\n");
  expect(output).toMatch(/Key \w{4} \w{4}: this machine can add and decrypt copies\.\nThe server has 3 copies of /);
});

test("originals refuses what it does not know", async () => {
  const host = await makeHome();
  for (const words of [["onn"], ["on", "x"], ["key", "make"], ["key", "show", "x"]])
    expect(await run(host, words)).toMatchObject({ code: 2 });
});

describe("spoor install", () => {
  /** Answers each question by the first text in it; the rest with an empty line. */
  async function installWith(answers: Record<string, string | ((output: string) => string)>) {
    const { fake, host } = await worldInside(1);
    const file = join(host.home, "spoor.mjs");
    await writeFile(file, "// spoor 1.2.0: a client");
    const before = { ...running };
    onTestFinished(() => void Object.assign(running, before));
    Object.assign(running, { file, version: "1.2.0", deliveredBy: fake.url });
    const questions: string[] = [];
    const install = () =>
      runInside(installCommand, host, {
        values: { "no-service": true, "no-hooks": true },
        columns: 100,
        answers(question, output) {
          questions.push(question.trim());
          const answer = Object.entries(answers).find(([text]) => question.includes(text))?.[1] ?? "";
          return typeof answer === "string" ? answer : answer(output);
        },
      });
    return { fake, host, questions, install };
  }

  test("asks once whether exact copies are wanted, in three lines, and goes on after a no", async () => {
    const { host, questions, install } = await installWith({});
    const first = await install();
    expect([first.code, first.output.match(/exact copies|encrypts them|recovery phrase/g)]).toEqual([
      0,
      ["exact copies", "encrypts them", "recovery phrase"],
    ]);
    expect(questions.filter((one) => one.includes("exact copies"))).toEqual(["Keep exact copies? [y/N]"]);
    expect((await readSettings(host)).originals).toBeUndefined();
    await install();
    expect(questions.filter((one) => one.includes("exact copies"))).toHaveLength(1);
    expect(await readRecipient(host)).toBeUndefined();
  });

  test("switches them on after a yes and the phrase", async () => {
    const { fake, host, install } = await installWith({ "Keep exact copies?": "y", "Type or paste": phraseIn });
    expect(await install()).toMatchObject({ code: 0 });
    expect((await readSettings(host)).originals).toEqual([]);
    expect(fake.originals.recipient).toBe(await readRecipient(host));
  });

  test("is done without them where the phrase is not confirmed", async () => {
    const { fake, host, install } = await installWith({ "Keep exact copies?": "y" });
    const { code, errors } = await install();
    expect([code, errors]).toEqual([0, expect.stringContaining("Exact copies stay off: The phrase was not confirmed")]);
    expect([(await readSettings(host)).originals, fake.originals.recipient]).toEqual([undefined, undefined]);
  });
});
