import { beforeEach, describe, expect, test } from "vitest";
import { SpoorError } from "#lib/core/errors";
import { pool } from "#lib/db/client";
import { heavyRead } from "#lib/db/heavy";
import { matchBlocks } from "#lib/search/index/find-documents";
import { computeWeights, rank } from "#lib/search/index/rank-documents";
import { markOutdated } from "#lib/search/index/sql/merge";
import { parseQuery } from "#lib/search/query";
import { rankTraces } from "#lib/search/rank-traces";
import { readRankedTraces } from "#lib/search/sql/rank-traces";
import { countTraces } from "#lib/traces/facets";
import { listTraces } from "#lib/traces/queries";
import { provideOwner } from "../support/server.ts";
import { clearTraces, indexAll, searchSourceIds } from "./searching.ts";
import { getUploads, messages } from "./uploads.ts";

const { userId } = await provideOwner();
const { send } = getUploads(userId);
beforeEach(clearTraces);

const search = (q: string, filter = {}) => searchSourceIds(userId, q, filter);
const store = async (...traces: unknown[]) => {
  await send(...traces);
  await indexAll();
};
const said = (role: string, content: string) => ({ role, content });
const trace = (sourceId: string, ...contents: { role: string; content: string }[]) => ({
  sourceId,
  messages: contents.map((message, position) => ({ position, ...message })),
});
const best = async (q: string) => {
  const { traces, partial } = await listTraces(userId, { q }, { limit: 50, order: "best" });
  return { ids: traces.map(({ sourceId }) => sourceId), matches: traces[0]?.matches, partial };
};

describe("a word", () => {
  test.each([
    ["the timers fire", ["timer", "timers", "tim", "TIMER"], ["timered", '"timer"', "imers"]],
    ["an idempotency key", ["idempot", "keys"], ["idempotx", '"idempot"']],
    ["two queries ran", ["query", "queries"], ["quer y"]],
    [
      "const xmlTagsRe = 1",
      ["xmlTags", "tags_re", "TagsRe", "xml_tags_re", "tags"],
      ["xml-tags", '"tags_re"', "agsRe"],
    ],
    ["let snake_case_name", ["snakeCase", "case_name", "CaseName"], ["nameCase"]],
    ["open pkg/cmd/watcher.go:12", ["watcher.go", "cmd/watcher.go", "watcher"], ["watcher.g", "md/watcher.go"]],
    ["error TS2345: Argument 'x'", ["TS2345", "error TS2345:", '"TS2345: Argument"'], ["TS234"]],
    ["这个函数返回空值 🎉", ["函数", "🎉"], ["数函"]],
  ])("of %j is found by its beginnings, forms and parts, and not by others", async (text, found, missed) => {
    await store({ sourceId: "one", messages: messages(text) });
    for (const q of found) expect([q, await search(q)]).toEqual([q, ["one"]]);
    for (const q of missed) expect([q, await search(q)]).toEqual([q, []]);
  });

  test("keeps its beginnings after blocks were merged, and loses them with its last session", async () => {
    for (let n = 0; n < 9; n += 1) await store({ sourceId: `s${n}`, messages: messages(`zebrafish${"abcdefghi"[n]}`) });
    expect(await search("zebrafish")).toHaveLength(9);
    const { rows } = await pool().query("select count(*)::int as count from search_block");
    expect(rows[0].count).toBeLessThan(9);
  });
});

test("of more hits than are ranked, older ones are listed where their title has the word", async () => {
  await store(
    { ...trace("old", said("user", "quokka")), title: "x" },
    { ...trace("old-titled", said("user", "x")), title: "The quokka" },
  );
  await store(trace("new", said("user", "quokka quokka")));
  const { groups, units } = parseQuery("quokka");
  const ranked = await heavyRead(userId, async (tx) => {
    const query = { groups, units };
    const matched = await matchBlocks(tx, userId, query);
    const bounds = { weights: computeWeights(matched), limit: 10 };
    const [all, some] = [
      await rank(tx, userId, query, matched, bounds),
      await rank(tx, userId, query, matched, { ...bounds, whole: 1 }),
    ];
    return [all.length, some.length, (await readRankedTraces(tx, userId, {}, some, 10)).map(({ id }) => id).sort()];
  });
  const { traces } = await listTraces(userId, {}, { limit: 10 });
  const findId = (sourceId: string) => traces.find((one) => one.sourceId === sourceId)?.id;
  expect(ranked).toEqual([3, 2, [findId("old-titled"), findId("new")].sort()]);
});

test("who asks for a tool or a failure is led to the message that is one, of the session that has it", async () => {
  const called = (content: string, isError: boolean) => ({
    ...said("assistant", content),
    metadata: { tool: { name: "Bash", isError } },
  });
  await store(
    trace(
      "speaks",
      said("user", "build it, the build failed"),
      called("ls", true),
      said("assistant", "the build is right"),
    ),
    trace(
      "ran",
      said("user", "build it"),
      called("npm run build: 12 pages", false),
      called("npm run build: no index.html", true),
    ),
  );
  for (const q of ["build has:error", "build tool:bash has:error"]) {
    const { ids, matches } = await best(q);
    expect([q, ids[0], matches?.map(({ position }) => position)]).toEqual([q, "ran", [2]]);
  }
  expect((await best("build tool:bash -has:error")).ids).toEqual([]);
  await store(trace("both", said("assistant", "the deploy failed"), called("the deploy failed", true)));
  expect((await best("failed deploy")).matches?.map(({ position }) => position)).toEqual([1, 0]);
});

describe("the language", () => {
  beforeEach(async () => {
    await store(
      {
        ...trace("one", said("user", "alpha beta"), said("assistant", "gamma")),
        ...{ source: "codex", title: "Omega", createdAt: "2026-03-01T10:00:00Z" },
      },
      {
        ...trace("two", said("assistant", "alpha delta")),
        ...{
          source: "claude-code",
          model: "opus-4",
          project: "api",
          title: "Second",
          createdAt: "2026-03-01T10:00:00Z",
        },
      },
      {
        ...trace("three", said("user", "delta")),
        messages: [
          { position: 0, role: "user", content: "delta" },
          { position: 1, role: "assistant", content: "failed", metadata: { tool: { name: "Bash", isError: true } } },
        ],
      },
    );
  });

  test.each<[string, string[]]>([
    ["alpha -delta", ["one"]],
    ["beta or delta", ["one", "three", "two"]],
    ["alpha beta or delta", ["one", "two"]],
    ['alpha -"alpha delta"', ["one"]],
    ["-alpha", ["three"]],
    ["agent:codex", ["one"]],
    ["-agent:codex delta", ["three", "two"]],
    ["agent:claude", ["two"]],
    ["model:opus", ["two"]],
    ["project:api alpha", ["two"]],
    ["-project:api alpha", ["one"]],
    ["tool:bash", ["three"]],
    ["tool:shell delta", ["three"]],
    ["has:error", ["three"]],
    ["-has:error", ["one", "two"]],
    ["role:user alpha", ["one"]],
    ["role:assistant alpha", ["two"]],
    ["in:title omega", ["one"]],
    ["in:title alpha", []],
    ["alpha after:2020-01-01", ["one", "two"]],
    ["alpha before:2020-01-01", []],
    ["delta after:2020-01-01", ["two"]], // "three" has no time
    ["branch:main", []],
  ])("finds by %j", async (q, ids) => {
    const found = await search(q);
    expect(found).toEqual(ids);
    expect(await countTraces(userId, { q }, 100)).toBe(found.length);
  });

  test.each([
    ["or alpha", "character 1"],
    ["alpha or", "character 7"],
    ["alpha or or beta", "character 10"],
    ["alpha has:luck", "character 7"],
    ["after:yesterday", "character 1"],
    ["alpha role:nobody", "character 7"],
    ["in:title role:user alpha", "character 10"],
    ["alpha or file:x.ts", "character 10"],
  ])("refuses %j and says where", async (q, place) => {
    const error = await search(q).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(SpoorError);
    expect((error as SpoorError).errors?.[0]).toMatchObject({ path: "q", message: expect.stringContaining(place) });
  });
});

describe("the best match", () => {
  test("is found among many that a selection leaves out, each session once", async () => {
    const many = Array.from({ length: 800 }, (_, n) => ({
      ...trace(`s${n}`, said("user", "axolotl")),
      model: `m${n % 2}`,
    }));
    await store(...many);
    const { traces } = await rankTraces(userId, { q: "axolotl", model: ["m1"] });
    expect(new Set(traces.map(({ id }) => id)).size).toBe(400);
    const scores = traces.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
  });

  test("is the title, then the person, then the agent, then a tool", async () => {
    const tool = '<tool-use data-tool-type="shell" data-tool-name="Bash"><details>\nquokka\n</details></tool-use>';
    const traces = [
      { ...trace("title", said("user", "hello"), said("assistant", "quokka")), title: "The quokka" },
      { ...trace("person", said("user", "hello"), said("user", "about a quokka")), title: "Words" },
      { ...trace("agent", said("user", "hello"), said("assistant", "a quokka")), title: "Words" },
      { ...trace("tool", said("user", "hello"), said("assistant", tool)), title: "Words" },
    ];
    for (const one of traces) await store(one);
    expect((await best("quokka")).ids).toEqual(["title", "person", "agent", "tool"]);
  });

  test("has the words beside each other, and its message first", async () => {
    await store(trace("apart", said("user", `merge ${"and so on ".repeat(50)} conflict`)));
    await store(trace("near", said("user", "hello"), said("user", "a merge conflict"), said("assistant", "the merge")));
    const { ids, matches } = await best("merge conflict");
    expect(ids).toEqual(["near", "apart"]);
    expect(matches?.[0]).toMatchObject({ position: 1, speaker: "person", text: "a merge conflict" });
  });

  test("is what has most of the words, where nothing has all, and it says so", async () => {
    await store(trace("most", said("user", "rare quokka burrow")), trace("less", said("user", "some text")));
    expect(await best("quokka burrow missing")).toMatchObject({ ids: ["most"], partial: true });
    expect(await best("quokka -rare missing")).toMatchObject({ ids: [] });
  });

  test("is for the word that was meant, where a word is in no session, and it says so", async () => {
    await store(trace("meant", said("user", "the debounce is 50ms")), trace("other", said("user", "50ms of text")));
    const page = await listTraces(userId, { q: "debonce 50ms" }, { limit: 5, order: "best" });
    expect(page).toMatchObject({ corrected: "debounce 50ms", traces: [{ sourceId: "meant" }] });
    expect((await listTraces(userId, { q: "debounce 50ms" }, { limit: 5, order: "best" })).corrected).toBeUndefined();
    expect((await listTraces(userId, { q: '"debonce" 50ms' }, { limit: 5, order: "best" })).corrected).toBeUndefined();
  });

  test("of a question in plain English need not have its small words", async () => {
    await store(
      trace("one", said("user", "we resume it in the other agent")),
      trace("two", said("user", "how is what")),
    );
    expect((await best("how is resuming done by an agent")).ids).toEqual(["one"]);
    expect((await best("how is what")).ids).toEqual(["two"]);
    expect((await best('resume "how"')).ids).toEqual([]);
  });

  test("has its message by the rare words, not by how many", async () => {
    const about = trace(
      "one",
      said("user", "let's go with sessions.db as the name"),
      said("assistant", "who can use what we decided, in place of it"),
    );
    await store(about, ...Array.from({ length: 5 }, (_, n) => trace(`s${n}`, said("user", "who decided to use it"))));
    expect((await best("who decided to use sessions.db")).matches?.[0]).toMatchObject({ position: 0 });
  });

  test("has every session once over its pages", async () => {
    await store(...Array.from({ length: 7 }, (_, n) => trace(`s${n}`, said("user", `quokka ${n}`))));
    const ids: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await listTraces(userId, { q: "quokka" }, { limit: 3, order: "best", cursor });
      ids.push(...page.traces.map(({ sourceId }) => sourceId));
      if (!page.nextCursor) break;
      cursor = page.nextCursor;
    }
    expect(ids.toSorted()).toEqual(["s0", "s1", "s2", "s3", "s4", "s5", "s6"]);
  });
});

test("what an earlier version indexed is indexed again, and found meanwhile", async () => {
  await store({ sourceId: "one", messages: messages("idempotency") });
  await pool().query("update search_block set version = 1");
  expect(await markOutdated(pool())).toBe(true);
  expect(await search("idempotency")).toEqual(["one"]);
  await indexAll();
  expect(await markOutdated(pool())).toBe(false);
  expect(await search("idempot")).toEqual(["one"]);
});

test("an excerpt is plain text", async () => {
  const content =
    '<tool-use data-tool-type="read" data-tool-name="Read"><details>\n<summary>Tool use: **Read**</summary>\n `x.go`\n\n```text\n     1→package x\n     2→\n     3→func **Quokka**() {}\n```\n</details></tool-use>';
  await store(trace("one", said("assistant", content)));
  const { matches } = await best("quokka");
  expect(matches?.[0]?.text).toBe("x.go package x func Quokka() {}");
});
