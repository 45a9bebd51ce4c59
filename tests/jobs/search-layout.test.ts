import { beforeEach, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool } from "#lib/db/client";
import { compactNext } from "#lib/search/compact";
import { indexNext } from "#lib/search/indexer";
import { purgeNext } from "#lib/search/purge";
import { deleteTrace } from "#lib/traces/deletion";
import { indexedTerms } from "../support/residue.ts";
import { provideOwner } from "../support/server.ts";
import { clearTraces, searchSourceIds } from "./searching.ts";
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

test("what an earlier version indexed is not merged with others, and keeps its version where a session of it is purged", async () => {
  await store("s1", "s2");
  await pool().query("update search_block set version = 1");
  for (const n of [3, 4, 5]) await store(`s${n}`);
  expect([await compactNext(), await versions()]).toEqual([false, [1, 2, 2, 2]]);
  await remove("s1");
  while (await purgeNext());
  expect((await versions()).toSorted()).toEqual([1, 2, 2, 2]);
  expect((await found())[0]?.slice(0, 3)).toEqual([["s2", "s3", "s4", "s5"], ["s2", "s3", "s4", "s5"], ["s2"]]);
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
  for (const q of ["word0", '"word7 word8"', "word299"]) expect(await searchSourceIds(userId, q)).toHaveLength(200);
});
