import { randomBytes } from "node:crypto";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { accountTraces } from "#lib/ledger/account";
import { readExcerpts } from "#lib/search/excerpts";
import { parseQuery } from "#lib/search/query";
import { suggest } from "#lib/search/suggest";
import { makeUser, provideOwner } from "../support/server.ts";
import { clearTraces, indexAll, searchSourceIds } from "./searching.ts";
import { getUploads, messages } from "./uploads.ts";

const { userId } = await provideOwner();
const { send, findId } = getUploads(userId);

describe("excerpts", () => {
  beforeEach(clearTraces);
  afterEach(() => vi.restoreAllMocks());

  test("are of the messages that match most of the query: three, and the number of further ones", async () => {
    await send({
      sourceId: "one",
      messages: messages(
        "alpha",
        "alpha beta 1",
        "beta",
        "Beta of ALPHA",
        "x ".repeat(300).concat("alpha beta"),
        "alpha beta 4",
        "beta alpha",
      ),
    });
    const id = await findId("one");
    const found = (await readExcerpts(userId, [id], parseQuery("alpha beta"))).get(id);
    expect(found?.excerpts.map(({ position }) => position)).toEqual([1, 4, 5]);
    expect(found).toMatchObject({ more: 2, atLeast: false });
    const [first, second] = found?.excerpts ?? [];
    expect(first).toEqual({
      position: 1,
      role: "user",
      speaker: "person",
      text: "alpha beta 1",
      ranges: [[0, 10]], // with a space between them two marks are one
    });
    expect(second?.text).toMatch(/^…x .*alpha beta$/);
    expect(second?.text.length).toBeLessThan(260);
  });

  test("are of a bounded part of a session with many long messages", async () => {
    const long = Array.from({ length: 20 }, (_, n) => `alpha ${n} ${"x".repeat(90_000)}`);
    await send({ sourceId: "one", messages: messages(...long) });
    const id = await findId("one");
    const found = (await readExcerpts(userId, [id], parseQuery("alpha"))).get(id);
    expect(found?.excerpts.map(({ position }) => position)).toEqual([0, 1, 2]);
    expect(found).toMatchObject({ more: 3, atLeast: true });
  });

  test("begin and end with whole words, where a language has any", async () => {
    const words = "mountain ".repeat(60);
    await send({ sourceId: "one", messages: messages(`${words}needle ${words}`, `${"山".repeat(200)}needle`) });
    const id = await findId("one");
    const texts = (await readExcerpts(userId, [id], parseQuery("needle"))).get(id)?.excerpts.map(({ text }) => text);
    expect(texts?.toSorted()).toEqual([
      expect.stringMatching(/^…(?:mountain )+needle (?:mountain )+mountain…$/),
      `…${"山".repeat(60)}needle`,
    ]);
  });

  test("show words once that a session has twice", async () => {
    await send({ sourceId: "one", messages: messages("mend the needle", "mend the needle", "the needle is mended") });
    const id = await findId("one");
    const found = (await readExcerpts(userId, [id], parseQuery("needle"))).get(id);
    expect(found?.excerpts.map(({ text }) => text)).toEqual(["mend the needle", "the needle is mended"]);
    expect(found?.more).toBe(1);
  });

  test("are found deep in a very long message, and by letters of any script", async () => {
    const long = `${"filler word ".repeat(30_000)}needle${" filler".repeat(1000)}`;
    await send({ sourceId: "one", messages: messages(long, "DÉJÀ vu", "这个函数返回空值") });
    const id = await findId("one");
    const at = async (q: string) => (await readExcerpts(userId, [id], parseQuery(q))).get(id)?.excerpts;
    expect(await at("needle")).toMatchObject([{ position: 0, text: expect.stringContaining("needle") }]);
    expect(await at("déjà")).toMatchObject([{ position: 1, ranges: [[0, 4]] }]);
    expect(await at("函数")).toMatchObject([{ position: 2, ranges: [[2, 4]] }]);
  });

  test("are found by any punctuation, any white space, and letters with combining accents", async () => {
    const signs = [..."!#$%&()*+,-./:;<=>?@[\\]^_`{|}~'"];
    const spaced = ["one\u00a0two", "one \n\t two!", "de\u0301ja\u0300 vu", "don’t", "ТАЙМЕР"];
    await send({ sourceId: "one", messages: messages(...signs.map((sign) => `X${sign}y`), ...spaced) });
    const id = await findId("one");
    const at = async (q: string) =>
      (await readExcerpts(userId, [id], parseQuery(q))).get(id)?.excerpts.map(({ position }) => position);
    for (const [position, sign] of signs.entries()) expect([sign, await at(`x${sign}Y`)]).toEqual([sign, [position]]);
    const first = signs.length;
    expect(await at('"one two"')).toEqual([first, first + 1]);
    expect(await at('"déjà vu"')).toEqual([first + 2]);
    expect(await at("don't")).toEqual([first + 3]);
    expect(await at("таймер")).toEqual([first + 4]);
  });

  test("of texts that take long to search let others have their turns meanwhile", async () => {
    // At each of its places the word begins within a word.
    await send({ sourceId: "one", messages: messages(...Array.from({ length: 30 }, () => `a ${"a".repeat(99_000)}`)) });
    const id = await findId("one");
    let turns = 0;
    const turn = setInterval(() => (turns += 1), 0);
    try {
      const found = await readExcerpts(userId, [id], parseQuery("a ".repeat(32)));
      expect(found.get(id)).toMatchObject({ atLeast: true });
    } finally {
      clearInterval(turn);
    }
    expect(turns).toBeGreaterThan(10);
  });

  test("are as many where the process is so busy that each step takes a second", async () => {
    await send(
      ...["one", "two", "three"].map((sourceId) => ({ sourceId, messages: messages("needle", "needle too") })),
    );
    const ids = [await findId("one"), await findId("two"), await findId("three")];
    let now = 0;
    vi.spyOn(performance, "now").mockImplementation(() => (now += 1000));
    const found = await readExcerpts(userId, ids, parseQuery("needle"));
    expect(ids.map((id) => found.get(id)?.excerpts.length)).toEqual([2, 2, 2]);
  });

  test("a call is known by metadata of at most 64 KiB of JSON, however PostgreSQL stores it", async () => {
    const failed = (sourceId: string, output: unknown) => ({
      sourceId,
      messages: [
        {
          position: 0,
          role: "assistant",
          content: "log: full",
          metadata: { tool: { name: "Bash", isError: true }, output },
        },
      ],
    });
    const noise = randomBytes(50_000).toString("hex"); // no compression makes it shorter than half
    const objects = Array.from({ length: 6000 }, () => ({}));
    await send(
      failed("incompressible", noise.slice(0, 60_000)),
      failed("more", noise),
      failed("repeated", "ab".repeat(20_000)),
      failed("more repeated", "ab".repeat(90_000)),
      failed("objects", objects),
    );
    await indexAll();
    expect(await searchSourceIds(userId, "log has:error")).toEqual(["incompressible", "objects", "repeated"]);
    expect(await searchSourceIds(userId, "log")).toHaveLength(5);
  });
});

describe("suggestions", () => {
  beforeAll(async () => {
    await clearTraces();
    await send({
      ...{ sourceId: "one", source: "claude-code", model: "claude-opus-4-5", project: "timetable" },
      metadata: { cwd: "/home/ada/timetable" },
      messages: [
        { position: 0, role: "user", content: "the timer is idempotent" },
        {
          ...{ position: 1, role: "assistant", content: "Edit" },
          metadata: {
            tool: {
              ...{ name: "Edit", callId: "c1", content: "call" },
              input: { file_path: "/home/ada/timetable/src/watcher.ts", old_string: "a", new_string: "b" },
            },
          },
        },
        { position: 2, role: "tool", content: "done", metadata: { result: { callId: "c1" } } },
      ],
    });
    await accountTraces(60);
    await indexAll();
  });

  const shown = async (text: string, user = userId) =>
    (await suggest(user, text)).map(({ kind, text: meant, q }) => `${kind} ${meant} = ${q}`);

  test.each([
    ["idem", ["word idempotent = idempotent"]],
    ["alpha watch", ["file file:watcher.ts = alpha file:watcher.ts"]],
    ["time", ["word timer = timer", "project project:timetable = project:timetable"]],
    ["alpha -file:watch", ["file file:watcher.ts = alpha -file:watcher.ts"]],
    ["changed:WATCH", ["file changed:watcher.ts = changed:watcher.ts"]],
    ["cha", ["filter changed: = changed:"]],
    ["model:cl", ["filter model:claude-opus-4-5 = model:claude-opus-4-5"]],
    ["role:as", ["filter role:assistant = role:assistant"]],
    ["https:wat", []],
    ['"the wat', []],
    ["before:2", []],
    ["", []],
  ])("%j may become %j", async (text, expected) => {
    expect(await shown(text)).toEqual(expect.arrayContaining(expected));
    if (expected.length === 0) expect(await shown(text)).toEqual([]);
  });

  test("another person's words, files and projects are suggested to nobody", async () => {
    const bob = await makeUser({ name: "Bob", email: "bob@example.org", password: "" });
    for (const text of ["idem", "watch", "time", "file:watch", "changed:watch", "project:time", "model:cl"])
      expect(await shown(text, bob)).toEqual([]);
  });
});
