import { appendFile, readFile, rm, writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { toLines, writeBelow } from "./home.ts";
import { claudeLines, claudeMessagesPerTurn } from "./sessions.ts";
import { claudePath, makeId, problem, world } from "./world.ts";

const key = `claude-code/${makeId(1)}`;
/** The lines of some turns of session 1. */
const turns = (from: number, to: number) => toLines(...claudeLines(makeId(1), to).slice(from * 4));

/** A world with session 1 of some turns, and what was sent of it in each upload: how many messages, and after how many. */
async function session(count: number, options: Parameters<typeof world>[1] = {}) {
  const made = await world(0, options);
  const path = await writeBelow(made.home, claudePath(1), turns(0, count));
  const sent = () =>
    made.fake.uploads.flatMap(({ traces }) => traces.map(({ append, messages }) => [append?.count, messages.length]));
  return { ...made, path, sent };
}

describe("a session that has grown", () => {
  test("sends only what came since, with its own fields, and can be grown again", async () => {
    const { fake, path, push, run, sent } = await session(3);
    await push();
    await appendFile(path, turns(3, 4));
    const { output } = await run(["push", "--dry-run"], { SPOOR_TOKEN: "" });
    expect(output).toMatch(/^new /); // without a login nothing is known of what was sent
    expect(await push()).toMatchObject({ code: 0, sent: { sessions: 1, messages: 4 } });
    await appendFile(path, toLines({ type: "custom-title", customTitle: "Named", sessionId: makeId(1) }));
    await push();
    expect(await push()).toMatchObject({ same: 1, sent: { sessions: 0 } });
    expect(sent()).toEqual([
      [undefined, 12],
      [12, 4],
      [16, 0],
    ]);
    expect(fake.uploads[1]?.traces[0]?.messages.map(({ position }) => position)).toEqual([12, 13, 14, 15]);
    expect(fake.uploads[2]?.traces[0]?.title).toBe("Named");
  });

  test("is sent whole where an earlier message has changed, or one is missing", async () => {
    const { fake, path, push, sent } = await session(3);
    await push();
    const text = await readFile(path, "utf8");
    await writeFile(path, text.replace("Reading it, 1.", "Reading it, 9.") + turns(3, 4));
    await push();
    await writeFile(path, turns(0, 2));
    await push();
    expect(fake.archive.get(key)).toBe(8);
    await appendFile(path, turns(2, 3));
    await push();
    expect(sent()).toEqual([
      [undefined, 12],
      [undefined, 16],
      [undefined, 8],
      [8, 4],
    ]);
    expect(fake.archive.get(key)).toBe(12);
  });

  test("is sent whole once where the server has another number of messages", async () => {
    const { fake, path, push, sent } = await session(3);
    await push();
    fake.archive.set(key, 7);
    await appendFile(path, turns(3, 4));
    expect(await push()).toMatchObject({ code: 0, sent: { sessions: 1 }, left: [] });
    expect(fake.archive.get(key)).toBe(16);
    expect(sent()).toEqual([
      [undefined, 12],
      [12, 4],
      [undefined, 16],
    ]);
    await appendFile(path, turns(4, 5));
    await push();
    expect(sent().at(-1)).toEqual([16, 4]);
  });

  test("of a file of sessions drops what only a whole session may say", async () => {
    const { fake, home, run } = await world(0);
    const trace = (...contents: string[]) => ({
      sourceId: "a",
      replace: true,
      messages: contents.map((content, position) => ({ position, content })),
    });
    for (const contents of [["a", "b"], ["a", "b", "c"], ["A"]]) {
      const path = await writeBelow(home, "export.jsonl", toLines(trace(...contents)));
      expect((await run(["push", path])).code).toBe(0);
    }
    expect(fake.uploads.flatMap(({ traces }) => traces.map(({ append, replace }) => [append, replace]))).toEqual([
      [undefined, true],
      [{ count: 2 }, undefined],
      [undefined, true],
    ]);
  });

  test("is sent whole to a server that does not know appends", async () => {
    const traces = { received: 1, created: 0, updated: 0, unchanged: 0, kept: 1 };
    const { path, push, sent } = await session(3, { job: () => ({ traces }) });
    await push();
    await appendFile(path, turns(3, 4));
    expect(await push()).toMatchObject({ code: 0, sent: { sessions: 1 } });
    expect(sent()).toEqual([
      [undefined, 12],
      [12, 4],
      [undefined, 16],
    ]);
  });
});

describe("a session over the limits of a body", () => {
  const limits = { messagesPerTrace: 10 };

  test.each([
    ["messages", limits, 4],
    ["bytes", { decodedBytes: 4000 }, undefined],
    ["bytes on the wire", { wireBytes: 3000 }, undefined],
  ])("arrives in parts (%s)", async (_, told, uploads) => {
    const { fake, push } = await session(10, { limits: told });
    expect(await push()).toMatchObject({ code: 0, left: [], sent: { sessions: 1, messages: 40 } });
    expect(fake.archive.get(key)).toBe(40);
    expect(fake.uploads.length).toBeGreaterThan(1);
    if (uploads) expect(fake.uploads).toHaveLength(uploads);
    const { messagesPerTrace = 1e9, wireBytes = 1e9 } = told as { messagesPerTrace?: number; wireBytes?: number };
    for (const upload of fake.uploads) {
      expect(upload.wireBytes).toBeLessThanOrEqual(wireBytes);
      expect(upload.traces[0]?.messages.length).toBeLessThanOrEqual(messagesPerTrace);
    }
    expect(await push()).toMatchObject({ same: 1, sent: { sessions: 0 } });
  });

  test("goes on where a push ended between two parts", async () => {
    const { fake, push, sent } = await session(10, { limits });
    let posts = 0;
    fake.failWith(({ method, url }) => {
      if (method !== "POST" || url !== "/api/ingest") return undefined;
      return ++posts > 2 ? problem(401, { error: "invalid_token" }) : undefined;
    });
    expect((await push()).code).toBe(3);
    fake.failWith(() => undefined);
    const next = await push();
    expect(sent()).toEqual([
      [undefined, 10],
      [10, 10],
      [20, 10],
      [30, 10],
    ]);
    expect(next).toMatchObject({ code: 0, sent: { messages: 20 } });
  });

  test("replaces a longer first part on the server, but never a longer session", async () => {
    const { fake, push } = await session(10, { limits });
    fake.archive.set(key, 25);
    expect(await push()).toMatchObject({ code: 0, left: [] });
    expect(fake.archive.get(key)).toBe(40);
    expect(fake.uploads.filter(({ traces }) => traces[0]?.replace)).toHaveLength(1);
    const other = await session(10, { limits });
    other.fake.archive.set(key, 1000);
    expect(await other.push()).toMatchObject({ code: 0, left: [] });
    expect(other.fake.archive.get(key)).toBe(1000);
    expect(await other.push()).toMatchObject({ same: 1, sent: { sessions: 0 } });
  });

  test("is shortened where one message is too long for a body, with a note that says so", async () => {
    const { fake, home, push } = await world(0, { limits: { decodedBytes: 100_000 } });
    const long = toLines(...claudeLines(makeId(1), 1, { text: "漢".repeat(60_000) }));
    await writeBelow(home, claudePath(1), long);
    expect(await push()).toMatchObject({ code: 0, left: [] });
    expect(fake.archive.get(key)).toBe(claudeMessagesPerTurn);
    const [first] = fake.uploads.flatMap(({ traces }) => traces[0]?.messages ?? []);
    const [, kept = "", missing = ""] =
      /^(漢+)\n\[Spoor: ([\d,]+) characters are missing here/.exec(first?.content ?? "") ?? [];
    expect(kept.length).toBeGreaterThan(20_000);
    expect(kept.length + Number(missing.replaceAll(",", ""))).toBe(60_000 + " (0)".length);
  });
});

test("what a fork copied from a session that was sent counts there, also once that one's file is gone", async () => {
  const { fake, home, path, push } = await session(1);
  const copied = claudeLines(makeId(1), 1).map((line) => ({
    ...line,
    sessionId: makeId(2),
    forkedFrom: { sessionId: makeId(1) },
  }));
  await push();
  await rm(path);
  await writeBelow(home, claudePath(2), toLines(...copied, ...claudeLines(makeId(2), 1)));
  await push();
  const [fork] = fake.uploads.at(-1)?.traces ?? [];
  expect(fork?.messages.map(({ metadata }) => metadata?.replayed ?? false)).toEqual([
    ...Array(claudeMessagesPerTurn).fill(true),
    ...Array(claudeMessagesPerTurn).fill(false),
  ]);
});
