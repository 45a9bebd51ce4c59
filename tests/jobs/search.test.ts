import { beforeEach, describe, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool } from "#lib/db/client";
import { readExcerpts } from "#lib/search/excerpts";
import { compactNext } from "#lib/search/index/compact";
import { countPending } from "#lib/search/index/find-documents";
import { indexNext } from "#lib/search/index/indexer";
import { purgeNext } from "#lib/search/index/purge";
import { parseQuery } from "#lib/search/query";
import { countSelection, deleteSelection, deleteTrace } from "#lib/traces/deletion";
import { countTraces, readFacets } from "#lib/traces/facets";
import { listTraces } from "#lib/traces/queries";
import { makeUser, provideOwner } from "../support/server.ts";
import { clearTraces, indexAll, searchSourceIds } from "./searching.ts";
import { getUploads, messages } from "./uploads.ts";

const { userId } = await provideOwner();
const { send, findId } = getUploads(userId);
beforeEach(clearTraces);

const search = (q: string, filter = {}) => searchSourceIds(userId, q, filter);

describe("a trace", () => {
  test("is found once it is indexed, and counts as pending until then", async () => {
    await send({
      sourceId: "one",
      title: "Flaky timer",
      messages: messages("The retry test fails", "in src/lib/x.ts"),
    });
    expect([await countPending(userId), await search("retry")]).toEqual([1, []]);
    await indexAll();
    expect(await countPending(userId)).toBe(0);
    for (const q of ["retry", "flaky retry", '"retry test"', "src/lib/x.ts", "one"])
      expect(await search(q)).toEqual(["one"]);
    for (const q of ["nothing", "retry nothing", '"test retry"']) expect(await search(q)).toEqual([]);
  });

  test("that grew is found by old and new words, one that was replaced by the new ones only", async () => {
    await send({ sourceId: "one", messages: messages("alpha") });
    await indexAll();
    await send({ sourceId: "one", messages: messages("alpha", "beta") });
    expect([await search("alpha"), await search("beta"), await countPending(userId)]).toEqual([["one"], [], 1]);
    await indexAll();
    expect([await search("alpha"), await search("beta"), await search("alpha beta")]).toEqual([
      ["one"],
      ["one"],
      ["one"],
    ]);
    await send({ sourceId: "one", replace: true, messages: messages("gamma") });
    await indexAll();
    expect([await search("alpha"), await search("gamma")]).toEqual([[], ["one"]]);
  });

  test("is found whatever Unicode form its letters were stored in", async () => {
    const texts = ["그 호출이 실패했다", "これががくしゃです", "la très grande idée", "yeni İstanbul köprüsü"];
    for (const [n, text] of texts.entries()) {
      const [sourceId, written] = [`form-${n}`, text.normalize("NFD")];
      await send({ sourceId, messages: messages(`${written}🎉`) });
      await indexAll();
      expect(await search(`"${text}"`)).toEqual([sourceId]);
      const excerpts = await readExcerpts(userId, [await findId(sourceId)], parseQuery(`"${text}"`));
      expect([...excerpts.values()].map(({ excerpts }) => excerpts[0]?.ranges)).toEqual([[[0, text.length]]]);
    }
  });

  test("without messages is found by its title", async () => {
    await send({ sourceId: "empty", title: "A plan", messages: [] });
    await indexAll();
    expect(await search("plan")).toEqual(["empty"]);
  });

  test("that is deleted is not found, even before the index is purged", async () => {
    await send({ sourceId: "gone", messages: messages("alpha") });
    await indexAll();
    await deleteTrace(userId, await findId("gone"), operator);
    expect([await search("alpha"), await countPending(userId)]).toEqual([[], 0]);
  });

  test("that is deleted before it was indexed is not pending and never found", async () => {
    await send({ sourceId: "gone", messages: messages("alpha") });
    await deleteTrace(userId, await findId("gone"), operator);
    expect(await countPending(userId)).toBe(0);
    await indexAll();
    expect(await search("alpha")).toEqual([]);
  });

  test("is counted and deleted by a search, and no other trace with it", async () => {
    await send({ sourceId: "one", messages: messages("the retry of the first test") });
    await send({ sourceId: "two", messages: messages("the retry of the test came first") });
    await send({ sourceId: "three", messages: messages("nothing") });
    await indexAll();
    const phrase = { q: '"retry of the first test"' };
    expect(await countSelection(userId, { q: "retry" })).toMatchObject({ traces: 2 });
    const counted = await countSelection(userId, phrase);
    expect(counted).toMatchObject({ traces: 1, messages: 1 });
    expect(await deleteSelection(userId, { q: "retry" }, counted.mark, operator)).toBeUndefined();
    expect(await deleteSelection(userId, phrase, counted.mark, operator)).toBe(1);
    expect([await search("retry"), await search("nothing")]).toEqual([["two"], ["three"]]);
  });

  test("is found by its owner only", async () => {
    const stranger = await makeUser({ name: "Bob", email: `${crypto.randomUUID()}@example.org`, password: "" });
    await getUploads(stranger).send({ sourceId: "theirs", messages: messages("alpha") });
    await send({ sourceId: "mine", messages: messages("alpha") });
    await indexAll();
    expect(await search("alpha")).toEqual(["mine"]);
    const { traces } = await listTraces(stranger, { q: "alpha" }, { limit: 9 });
    expect(traces.map(({ sourceId }) => sourceId)).toEqual(["theirs"]);
    const excerpts = await readExcerpts(stranger, [await findId("mine")], parseQuery("alpha"));
    expect(excerpts.size).toBe(0);
  });
});

describe("a search", () => {
  test("lists the newest activity first, in pages that have every trace once", async () => {
    await send(
      ...Array.from({ length: 25 }, (_, n) => ({
        sourceId: `s${n}`,
        project: n % 2 ? "odd" : "even",
        messages: [
          {
            position: 0,
            content: `alpha ${n}`,
            createdAt: `2026-01-${String(1 + (n % 7)).padStart(2, "0")}T00:00:00Z`,
          },
        ],
      })),
    );
    await indexAll();
    const seen: { id: string; updatedAt: string }[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await listTraces(userId, { q: "alpha" }, { limit: 10, cursor: cursor ?? undefined });
      seen.push(...page.traces);
      cursor = page.nextCursor;
    } while (cursor);
    expect(new Set(seen.map(({ id }) => id)).size).toBe(25);
    expect(seen.map(({ updatedAt }) => updatedAt)).toEqual(
      seen
        .map(({ updatedAt }) => updatedAt)
        .toSorted()
        .reverse(),
    );
    expect(await search("alpha", { project: "odd" })).toHaveLength(12);
    expect(await search("alpha", { from: "2026-01-05T00:00:00Z" })).toHaveLength(9);
  });

  test("for a phrase verifies the text where its pairs of words are apart", async () => {
    await send(
      { sourceId: "apart", messages: messages("one two four", "two three") },
      { sourceId: "together", messages: messages("one two three") },
    );
    await indexAll();
    expect(await search('"one two three"')).toEqual(["together"]);
    expect(await search('four "one two three"')).toEqual([]);
  });

  test("for a phrase finds it in a title, in a very long message, and after hundreds of similar ones", async () => {
    const long = `${"one filler two filler three ".repeat(5000)} two three one two filler one two three`;
    const like = Array.from({ length: 250 }, () => "two three and then one two");
    await send(
      { sourceId: "titled", title: "One two three", messages: messages("nothing") },
      { sourceId: "long", messages: messages(long) },
      { sourceId: "many", messages: messages(...like.map((text) => `${text} one x two x three`), "one two three") },
    );
    await indexAll();
    expect(await search('"one two three"')).toEqual(["long", "many", "titled"]);
  });

  test("for a phrase in a very long trace reads the part that has it", async () => {
    const long = (last: string) => messages("one two four", ...Array<string>(2050).fill("filler"), last);
    await send(
      { sourceId: "parted", messages: long("two three") },
      { sourceId: "whole", messages: long("one two three") },
    );
    await indexAll();
    expect(await search('"one two three"')).toEqual(["whole"]);
    const id = await findId("whole");
    const found = (await readExcerpts(userId, [id], parseQuery("three"))).get(id);
    expect(found?.excerpts.map(({ position, text }) => [position, text])).toEqual([[2051, "one two three"]]);
  });

  test("for several words finds them anywhere in a very long trace, and a phrase only as a whole", async () => {
    const filler = Array<string>(2050).fill("filler");
    await send(
      {
        sourceId: "long",
        title: "The plan",
        messages: messages("alpha one two", ...filler, "beta two three", ...filler, "gamma"),
      },
      { sourceId: "other", messages: messages("alpha", ...filler, "gamma") },
    );
    await indexAll();
    expect(await search("alpha gamma")).toEqual(["long", "other"]);
    for (const q of ["alpha beta", "plan gamma", "beta gamma filler", '"one two" "two three"'])
      expect(await search(q)).toEqual(["long"]);
    for (const q of ['"one two three"', "alpha nothing", "plan alpha nothing"]) expect(await search(q)).toEqual([]);
    expect(await countSelection(userId, { q: '"alpha one two" "beta two three"' })).toMatchObject({ traces: 1 });
    const id = await findId("long");
    expect((await readExcerpts(userId, [id], parseQuery("beta gamma"))).get(id)?.excerpts).not.toEqual([]);
  });

  test("verifies as many traces as a page needs for a phrase, and all of them for a deletion", async () => {
    const like = Array.from({ length: 120 }, (_, n) => ({
      sourceId: `like${n}`,
      messages: messages("one two four", "two three"),
    }));
    await send({ sourceId: "right", messages: messages("one two three") }, ...like);
    await indexAll();
    expect(await countTraces(userId, { q: '"one two three"' }, 1000)).toBeLessThan(30);
    expect(await countSelection(userId, { q: '"one two three"' })).toMatchObject({ traces: 1 });
  });

  test("has the same count and facet values as its list", async () => {
    const session = (n: number) => ({
      sourceId: `s${n}`,
      project: n % 3 ? "most" : "few",
      messages: messages("alpha"),
    });
    await send(...Array.from({ length: 12 }, (_, n) => session(n)), { sourceId: "other", messages: messages("beta") });
    await indexAll();
    expect(await countTraces(userId, { q: "alpha" }, 1000)).toBe(12);
    expect(await countTraces(userId, { q: "alpha" }, 5)).toBe(5);
    expect(await countTraces(userId, { q: "alpha", project: "few" }, 1000)).toBe(4);
    expect((await readFacets(userId, { q: "alpha", project: "few" })).project).toEqual([
      { value: "most", count: 8 },
      { value: "few", count: 4 },
    ]);
  });

  test("scans the list where most of it matches, and looks up the hits where few do", async () => {
    await pool().query(
      `insert into trace (user_id, id, source, source_id, title, message_count, token_count, content_hash, upload_sequence,
         activity_at)
       select $1, gen_random_uuid(), 'test', 'n' || n, case when n % 100 = 0 then 'alpha rare' else 'alpha' end || case when n <= 1200 then ' early' else '' end, 0, 0, '', 0,
         timestamptz '2026-01-01' + n * interval '1 second' from generate_series(1, 2400) as n`,
      [userId],
    );
    await indexAll();
    await pool().query("analyze trace, search_document"); // as autovacuum does after so many rows
    const common = await listTraces(userId, { q: "alpha" }, { limit: 3 });
    expect(common.traces.map(({ sourceId }) => sourceId)).toEqual(["n2400", "n2399", "n2398"]);
    const next = await listTraces(userId, { q: "alpha" }, { limit: 2, cursor: common.nextCursor ?? "" });
    expect(next.traces.map(({ sourceId }) => sourceId)).toEqual(["n2397", "n2396"]);
    expect(await countTraces(userId, { q: "alpha" }, 10_000)).toBe(2400);
    const early = await listTraces(userId, { q: "early" }, { limit: 3 });
    expect(early.traces.map(({ sourceId }) => sourceId)).toEqual(["n1200", "n1199", "n1198"]);
    const rare = await listTraces(userId, { q: "alpha rare" }, { limit: 200 });
    expect(rare.traces.map(({ sourceId }) => sourceId)).toEqual(
      Array.from({ length: 24 }, (_, n) => `n${2400 - n * 100}`),
    );
    const old = await listTraces(userId, { q: "alpha", to: "2026-01-01T00:00:04Z" }, { limit: 200 });
    expect(old.traces.map(({ sourceId }) => sourceId)).toEqual(["n3", "n2", "n1"]);
  });
});

describe("the index", () => {
  const store = async (...names: string[]) => {
    await send(...names.map((name) => ({ sourceId: name, messages: messages(`alpha number${name} of many`) })));
    await indexNext(0, undefined, "busy");
  };
  const versions = async () => {
    const { rows } = await pool().query<{ version: number }>("select version from search_block order by id");
    return rows.map(({ version }) => version);
  };

  test("what an earlier version indexed is not merged with others, and keeps its version where a session of it is purged", async () => {
    await store("s1", "s2");
    await pool().query("update search_block set version = 1");
    for (const n of [3, 4, 5]) await store(`s${n}`);
    expect([await compactNext(), await versions()]).toEqual([false, [1, 2, 2, 2]]);
    await deleteTrace(userId, await findId("s1"), operator);
    while (await purgeNext());
    expect((await versions()).toSorted()).toEqual([1, 2, 2, 2]);
    for (const q of ["alpha", "numb"]) expect(await search(q)).toEqual(["s2", "s3", "s4", "s5"]);
    expect(await search('"alpha numbers2"')).toEqual(["s2"]);
  });

  test("words that are in every session are merged", async () => {
    const words = Array.from({ length: 300 }, (_, n) => `word${n}`).join(" ");
    for (const part of ["a", "b", "c", "d"]) {
      await send(...Array.from({ length: 60 }, (_, n) => ({ sourceId: `${part}${n}`, messages: messages(words) })));
      await indexNext(0, undefined, "busy");
    }
    const countPostings = async () =>
      (await pool().query("select sum(postings)::int as postings from search_block")).rows[0];
    const before = await countPostings();
    expect([await compactNext(), await versions()]).toEqual([true, [2]]);
    expect(await countPostings()).toEqual(before);
    for (const q of ["word0", '"word7 word8"', "word299"]) expect(await search(q)).toHaveLength(200);
  });
});
