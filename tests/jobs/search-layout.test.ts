import { beforeEach, expect, test, vi } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool } from "#lib/db/client";
import { compactNext, makeCompaction } from "#lib/search/compact";
import { indexNext } from "#lib/search/indexer";
import { purgeNext } from "#lib/search/purge";
import { deleteTrace } from "#lib/traces/deletion";
import { indexedTerms } from "../support/residue.ts";
import { makeUser, provideOwner } from "../support/server.ts";
import { clearTraces, indexAll, searchSourceIds, whileUpgrading } from "./searching.ts";
import { messages, uploadsOf } from "./uploads.ts";

const { userId } = await provideOwner();
const { send, stored } = uploadsOf(userId);
beforeEach(clearTraces);

const store = async (...names: string[]) => {
  await send(...names.map((name) => ({ sourceId: name, messages: messages(`alpha number${name} of many`) })));
  await indexNext(0, undefined, "busy");
};
const versions = async () => {
  const { rows } = await pool().query<{ version: number }>("select version from search_block order by id");
  return rows.map(({ version }) => version);
};
const queries = ["alpha", "numb", '"alpha numbers2"', "numbers4 -beta", "beta"];
const found = async () => [
  await Promise.all(queries.map((q) => searchSourceIds(userId, q))),
  [...(await indexedTerms())].toSorted((a, b) => a - b),
];
const remove = async (name: string) => deleteTrace(userId, (await stored(name))?.id ?? expect.fail(name), operator);

test("while processes of the release before may run, blocks are written, merged and purged as these read them", async () => {
  await whileUpgrading(async () => {
    for (const n of [1, 2, 3, 4, 5]) await store(`s${n}`);
    expect(await versions()).toEqual([2, 2, 2, 2, 2]);
    expect([await compactNext(), await versions()]).toEqual([true, [2]]);
    await remove("s1");
    while (await purgeNext());
    const before = await found();
    expect(before[0]?.slice(0, 4)).toEqual([["s2", "s3", "s4", "s5"], ["s2", "s3", "s4", "s5"], ["s2"], ["s4"]]);
    expect([await compactNext(), await versions(), await found()]).toEqual([false, [2], before]);
  });
});

test("blocks of both layouts are searched and merged together", async () => {
  await whileUpgrading(async () => {
    for (const n of [1, 2]) await store(`s${n}`);
  });
  for (const n of [3, 4]) await store(`s${n}`);
  expect(await versions()).toEqual([2, 2, 3, 3]);
  const before = await found();
  expect(before[0]?.slice(0, 4)).toEqual([["s1", "s2", "s3", "s4"], ["s1", "s2", "s3", "s4"], ["s2"], ["s4"]]);
  expect([await compactNext(), await versions(), await found()]).toEqual([true, [3], before]);
});

test("once no process of the release before can run, its blocks are rewritten, one at a time, and nothing more", async () => {
  await whileUpgrading(async () => {
    for (const n of [1, 2, 3]) await store(`s${n}`);
  });
  const other = await makeUser({ name: "Bob", email: "bob@example.org", password: "" });
  await whileUpgrading(async () => {
    await uploadsOf(other).send({ sourceId: "theirs", messages: messages("alpha of theirs") });
    await indexAll();
  });
  await remove("s3");
  const before = await found();
  const ages = async () =>
    (await pool().query("select coalesce(latest_id, id) as age from search_block order by 1")).rows;
  const agesBefore = (await ages()).filter((_, place) => place !== 2);
  expect([await compactNext(async () => false), await versions()]).toEqual([false, [2, 2, 2, 2]]);
  const seen: string[] = [];
  for (let left = 10; left > 0 && (await compactNext()); left -= 1) seen.push(`${(await versions()).toSorted()}`);
  // What was deleted leaves no block behind.
  expect(seen.map((one) => one.replaceAll(",", ""))).toContain("333");
  expect(seen.length).toBe(4);
  expect([await ages(), (await found())[0]]).toEqual([agesBefore, before[0]]);
  expect(await searchSourceIds(other, "theirs")).toEqual(["theirs"]);
});

test("what an earlier version indexed is not merged with others, and keeps its version where a session of it is purged", async () => {
  await whileUpgrading(() => store("s1", "s2"));
  await pool().query("update search_block set version = 1");
  for (const n of [3, 4, 5]) await store(`s${n}`);
  expect([await compactNext(), await versions()]).toEqual([false, [1, 3, 3, 3]]);
  await remove("s1");
  while (await purgeNext());
  expect((await versions()).toSorted()).toEqual([1, 3, 3, 3]);
  expect((await found())[0]?.slice(0, 3)).toEqual([["s2", "s3", "s4", "s5"], ["s2", "s3", "s4", "s5"], ["s2"]]);
});

test("words that are in every session are merged, however little room they take", async () => {
  const words = Array.from({ length: 300 }, (_, n) => `word${n}`).join(" ");
  for (const part of ["a", "b", "c", "d"]) {
    await send(...Array.from({ length: 60 }, (_, n) => ({ sourceId: `${part}${n}`, messages: messages(words) })));
    await indexNext(0, undefined, "busy");
  }
  const sizes = async () =>
    (
      await pool().query(
        `select (select sum(length(postings))::int from search_bucket where bucket < 8192) as bytes,
           (select sum(postings)::int from search_block) as postings`,
      )
    ).rows[0];
  const before = await sizes();
  expect([await compactNext(), await versions()]).toEqual([true, [3]]);
  expect(await sizes()).toMatchObject({ postings: before.postings });
  expect((await sizes()).bytes).toBeLessThan(before.postings / 4);
  for (const q of ["word0", '"word7 word8"', "word299"]) expect(await searchSourceIds(userId, q)).toHaveLength(200);
});

test("blocks are rewritten when it is calm, unless the release before may still run", async () => {
  await whileUpgrading(() => store("s1"));
  const clock = performance.now.bind(performance);
  let passed = 0;
  const now = vi.spyOn(performance, "now").mockImplementation(() => clock() + passed);
  try {
    const compaction = makeCompaction(async () => true);
    passed = 31_000;
    await whileUpgrading(() => compaction.next());
    expect(await versions()).toEqual([2]);
    compaction.postpone();
    await compaction.next();
    expect(await versions()).toEqual([2]);
    passed += 31_000;
    await whileUpgrading(() => compaction.next());
    passed += 3_000_000;
    await compaction.next();
    expect(await versions()).toEqual([2]);
    passed += 601_000; // an hour after it was found compact
    await compaction.next();
    expect(await versions()).toEqual([3]);
  } finally {
    now.mockRestore();
  }
});
