import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool, transaction } from "#lib/db/client";
import { readExcerpts } from "#lib/search/excerpts";
import { countPending } from "#lib/search/find";
import { indexNext } from "#lib/search/indexer";
import { parseQuery } from "#lib/search/query";
import { drainQueues } from "#lib/server/drain";
import { countSelection, deleteSelection, deleteTrace } from "#lib/traces/deletion";
import { countTraces, readFacets } from "#lib/traces/facets";
import { listTraces } from "#lib/traces/queries";
import { makeUser, provideOwner } from "../support/server.ts";
import { messages, uploadsOf } from "./uploads.ts";

const { userId } = await provideOwner();
const { accept, run, send, stored } = uploadsOf(userId);
beforeEach(async () => {
  await pool().query("delete from trace");
  await pool().query("delete from search_block");
});

async function indexAll(): Promise<void> {
  while ((await indexNext()) > 0);
}

const search = async (q: string, filter = {}) => {
  const { traces } = await listTraces(userId, { q, ...filter }, { limit: 200 });
  return traces.map(({ sourceId }) => sourceId).toSorted();
};
const idOf = async (sourceId: string) => (await stored(sourceId))?.id ?? expect.fail(`there is no ${sourceId}`);

describe("a session", () => {
  test("is found once it is indexed, and counts as lagging until then", async () => {
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

  test("that grew is found by its new words and its old ones, that was replaced by its new ones alone", async () => {
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

  test("is found as one writes it, in whatever form its letters were stored", async () => {
    const texts = ["그 호출이 실패했다", "これががくしゃです", "la très grande idée", "yeni İstanbul köprüsü"];
    for (const [n, text] of texts.entries()) {
      const [sourceId, written] = [`form-${n}`, text.normalize("NFD")];
      await send({ sourceId, messages: messages(`${written}🎉`) });
      await indexAll();
      expect(await search(`"${text}"`)).toEqual([sourceId]);
      const excerpts = await readExcerpts(userId, [await idOf(sourceId)], parseQuery(`"${text}"`));
      expect([...excerpts.values()].map(({ excerpts }) => excerpts[0]?.ranges)).toEqual([[[0, text.length]]]);
    }
  });

  test("without messages is found by its title", async () => {
    await send({ sourceId: "empty", title: "A plan", messages: [] });
    await indexAll();
    expect(await search("plan")).toEqual(["empty"]);
  });

  test("that is deleted is not found any more, before the index is told", async () => {
    await send({ sourceId: "gone", messages: messages("alpha") });
    await indexAll();
    await deleteTrace(userId, await idOf("gone"), operator);
    expect([await search("alpha"), await countPending(userId)]).toEqual([[], 0]);
  });

  test("that is deleted before it was indexed counts no more and never comes back", async () => {
    await send({ sourceId: "gone", messages: messages("alpha") });
    await deleteTrace(userId, await idOf("gone"), operator);
    expect(await countPending(userId)).toBe(0);
    await indexAll();
    expect(await search("alpha")).toEqual([]);
  });

  test("is counted and deleted by what finds it, and no other with it", async () => {
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

  test("is found by its owner alone", async () => {
    const stranger = await makeUser({ name: "Bob", email: `${crypto.randomUUID()}@example.org`, password: "" });
    await uploadsOf(stranger).send({ sourceId: "theirs", messages: messages("alpha") });
    await send({ sourceId: "mine", messages: messages("alpha") });
    await indexAll();
    expect(await search("alpha")).toEqual(["mine"]);
    const { traces } = await listTraces(stranger, { q: "alpha" }, { limit: 9 });
    expect(traces.map(({ sourceId }) => sourceId)).toEqual(["theirs"]);
    const excerpts = await readExcerpts(stranger, [await idOf("mine")], parseQuery("alpha"));
    expect(excerpts.size).toBe(0);
  });
});

describe("the indexer", () => {
  test("gives way before it reads any text", async () => {
    await send({ sourceId: "one", messages: messages("alpha") });
    const way = Promise.withResolvers<void>();
    const indexing = indexNext(0, () => way.promise);
    await sleep(300);
    expect(await search("alpha")).toEqual([]);
    way.resolve();
    expect(await indexing).toBe(1);
    expect(await search("alpha")).toEqual(["one"]);
  });

  test("leaves alone what changed a moment ago, until it has settled", async () => {
    await send({ sourceId: "growing", messages: messages("alpha") });
    expect(await indexNext(60)).toBe(0);
    await pool().query("update trace set stored_at = now() - interval '2 minutes'");
    expect(await indexNext(60)).toBe(1);
    expect(await search("alpha")).toEqual(["growing"]);
  });

  test("that fails in the middle leaves nothing behind, and the next one does it all", async () => {
    await send({ sourceId: "one", messages: messages("alpha") });
    await pool().query("create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$");
    await pool().query("create trigger refuse before insert on search_document for each row execute function refuse()");
    try {
      await expect(indexNext()).rejects.toThrow("refused");
    } finally {
      await pool().query("drop function refuse cascade");
    }
    const { rows } = await pool().query("select (select count(*)::int from search_block) as blocks");
    expect([rows[0].blocks, await countPending(userId)]).toEqual([0, 1]);
    await indexAll();
    expect(await search("alpha")).toEqual(["one"]);
  });

  test("passes over a session that an upload holds, and takes it the next time", async () => {
    await send({ sourceId: "held", messages: messages("alpha") }, { sourceId: "free", messages: messages("alpha") });
    await transaction(async (tx) => {
      await tx.query("select from trace where source_id = 'held' for update");
      await indexNext();
      expect([await search("alpha"), await countPending(userId)]).toEqual([["free"], 1]);
    });
    await indexAll();
    expect(await search("alpha")).toEqual(["free", "held"]);
  });

  test("leaves a session that changed while it was read for the next time", async () => {
    await send({ sourceId: "moving", messages: messages("alpha") });
    const jobId = await accept([{ sourceId: "moving", messages: messages("alpha", "beta") }]);
    await pool().query(
      `create function change() returns trigger language plpgsql as $$
       begin update trace set content_hash = '' where source_id = 'moving'; return new; end $$`,
    );
    await pool().query("create trigger change after insert on search_block for each row execute function change()");
    try {
      await indexNext();
    } finally {
      await pool().query("drop function change cascade");
    }
    expect([await search("alpha"), await countPending(userId)]).toEqual([[], 1]);
    await run(jobId);
    await indexAll();
    expect(await search("alpha beta")).toEqual(["moving"]);
  });

  test("gives way to another one that is at it", async () => {
    await send({ sourceId: "one", messages: messages("alpha") });
    await transaction(async (tx) => {
      await tx.query("select pg_advisory_xact_lock(hashtextextended('spoor.search', 0))");
      expect(await indexNext()).toBe(0);
    });
    expect(await indexNext()).toBe(1);
  });

  test("merges small blocks, and finds all that is left in them", async () => {
    for (let n = 0; n < 20; n += 1) {
      await send({ sourceId: `s${n}`, messages: messages(`alpha number${n}`) });
      if (n === 5) await deleteTrace(userId, await idOf("s3"), operator);
      await indexAll();
    }
    const { rows } = await pool().query("select count(*)::int as blocks from search_block");
    expect(rows[0].blocks).toBeLessThan(8);
    expect(await search("alpha")).toHaveLength(19);
    for (const n of [0, 7, 19]) expect(await search(`number${n}`)).toEqual([`s${n}`]);
    expect(await search("number3")).toEqual([]);
    const { rows: left } = await pool().query(
      "select count(*)::int as documents from search_document join trace on trace.id = trace_id where source_id = 's3'",
    );
    expect(left[0].documents).toBe(0);
  });

  test("works where nothing but /api/cron is called", async () => {
    await accept([{ sourceId: "cron", messages: messages("alpha") }]);
    await drainQueues(20);
    expect(await search("alpha")).toEqual(["cron"]);
  });
});

describe("a search", () => {
  test("gives the newest activity first, in pages that have every session once", async () => {
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

  test("of a phrase reads the text where its pairs of words stand apart", async () => {
    await send(
      { sourceId: "apart", messages: messages("one two four", "two three") },
      { sourceId: "together", messages: messages("one two three") },
    );
    await indexAll();
    expect(await search('"one two three"')).toEqual(["together"]);
    expect(await search('four "one two three"')).toEqual([]);
  });

  test("of a phrase finds it in a title, in a very long message, and behind hundreds that are like it", async () => {
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

  test("of a phrase in a very long session reads the part that has it", async () => {
    const long = (last: string) => messages("one two four", ...Array<string>(2050).fill("filler"), last);
    await send(
      { sourceId: "parted", messages: long("two three") },
      { sourceId: "whole", messages: long("one two three") },
    );
    await indexAll();
    expect(await search('"one two three"')).toEqual(["whole"]);
    const id = await idOf("whole");
    const found = (await readExcerpts(userId, [id], parseQuery("three"))).get(id);
    expect(found?.excerpts.map(({ position, text }) => [position, text])).toEqual([[2051, "one two three"]]);
  });

  test("of several words finds them in a very long session wherever they stand, and a phrase where it stands whole", async () => {
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
    const id = await idOf("long");
    expect((await readExcerpts(userId, [id], parseQuery("beta gamma"))).get(id)?.excerpts).not.toEqual([]);
  });

  test("reads as many sessions as it needs for a phrase, in the list's order, and as many as there are to delete", async () => {
    const like = Array.from({ length: 120 }, (_, n) => ({
      sourceId: `like${n}`,
      messages: messages("one two four", "two three"),
    }));
    await send({ sourceId: "right", messages: messages("one two three") }, ...like);
    await indexAll();
    expect(await countTraces(userId, { q: '"one two three"' }, 1000)).toBeLessThan(30);
    expect(await countSelection(userId, { q: '"one two three"' })).toMatchObject({ traces: 1 });
  });

  test("is counted, and its values, as the list finds it", async () => {
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

  test("goes through the list where most of it is found, and looks up the hits where few are", async () => {
    await pool().query(
      `insert into trace (user_id, id, source, source_id, title, message_count, token_count, content_hash, upload_sequence,
         activity_at)
       select $1, gen_random_uuid(), 'test', 'n' || n, case when n % 100 = 0 then 'alpha rare' else 'alpha' end || case when n <= 1500 then ' early' else '' end, 0, 0, '', 0,
         timestamptz '2026-01-01' + n * interval '1 second' from generate_series(1, 4500) as n`,
      [userId],
    );
    await indexAll();
    const common = await listTraces(userId, { q: "alpha" }, { limit: 3 });
    expect(common.traces.map(({ sourceId }) => sourceId)).toEqual(["n4500", "n4499", "n4498"]);
    const next = await listTraces(userId, { q: "alpha" }, { limit: 2, cursor: common.nextCursor ?? "" });
    expect(next.traces.map(({ sourceId }) => sourceId)).toEqual(["n4497", "n4496"]);
    expect(await countTraces(userId, { q: "alpha" }, 10_000)).toBe(4500);
    const early = await listTraces(userId, { q: "early" }, { limit: 3 });
    expect(early.traces.map(({ sourceId }) => sourceId)).toEqual(["n1500", "n1499", "n1498"]);
    const rare = await listTraces(userId, { q: "alpha rare" }, { limit: 200 });
    expect(rare.traces.map(({ sourceId }) => sourceId)).toEqual(
      Array.from({ length: 45 }, (_, n) => `n${4500 - n * 100}`),
    );
    const old = await listTraces(userId, { q: "alpha", to: "2026-01-01T00:00:04Z" }, { limit: 200 });
    expect(old.traces.map(({ sourceId }) => sourceId)).toEqual(["n3", "n2", "n1"]);
  });
});

describe("excerpts", () => {
  test("are of the messages that have the most of the query: three, and how many more", async () => {
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
    const id = await idOf("one");
    const found = (await readExcerpts(userId, [id], parseQuery("alpha beta"))).get(id);
    expect(found?.excerpts.map(({ position }) => position)).toEqual([1, 3, 4]);
    expect(found).toMatchObject({ more: 2, atLeast: false });
    const [first, second, third] = found?.excerpts ?? [];
    expect(first).toEqual({
      position: 1,
      role: "user",
      text: "alpha beta 1",
      ranges: [
        [0, 5],
        [6, 10],
      ],
    });
    expect(second?.ranges).toEqual([
      [0, 4],
      [8, 13],
    ]);
    expect(third?.text).toMatch(/^…x .*alpha beta$/);
    expect(third?.text.length).toBeLessThan(260);
  });

  test("are found deep in a very long message, and by letters of any script", async () => {
    const long = `${"filler word ".repeat(30_000)}needle${" filler".repeat(1000)}`;
    await send({ sourceId: "one", messages: messages(long, "DÉJÀ vu", "这个函数返回空值") });
    const id = await idOf("one");
    const at = async (q: string) => (await readExcerpts(userId, [id], parseQuery(q))).get(id)?.excerpts;
    expect(await at("needle")).toMatchObject([{ position: 0, text: expect.stringContaining("needle") }]);
    expect(await at("déjà")).toMatchObject([{ position: 1, ranges: [[0, 4]] }]);
    expect(await at("函数")).toMatchObject([{ position: 2, ranges: [[2, 4]] }]);
  });

  test("are found by every sign, any white space, and letters whose accents stand apart", async () => {
    const signs = [..."!#$%&()*+,-./:;<=>?@[\\]^_`{|}~'"];
    const spaced = ["one\u00a0two", "one \n\t two", "de\u0301ja\u0300 vu", "don’t", "ТАЙМЕР"];
    await send({ sourceId: "one", messages: messages(...signs.map((sign) => `X${sign}y`), ...spaced) });
    const id = await idOf("one");
    const at = async (q: string) =>
      (await readExcerpts(userId, [id], parseQuery(q))).get(id)?.excerpts.map(({ position }) => position);
    for (const [position, sign] of signs.entries()) expect([sign, await at(`x${sign}Y`)]).toEqual([sign, [position]]);
    const first = signs.length;
    expect(await at('"one two"')).toEqual([first, first + 1]);
    expect(await at('"déjà vu"')).toEqual([first + 2]);
    expect(await at("don't")).toEqual([first + 3]);
    expect(await at("таймер")).toEqual([first + 4]);
  });
});
