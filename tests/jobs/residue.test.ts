import { afterEach, describe, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { deleteAccount } from "#lib/auth/deletion";
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { wholeRange } from "#lib/masking/for-others";
import { indexNext } from "#lib/search/index/indexer";
import { purgeNext } from "#lib/search/index/purge";
import { forEachTerm } from "#lib/search/index/terms";
import { shareTrace } from "#lib/shares/shares";
import { countSelection, deleteSelection, deleteTrace } from "#lib/traces/deletion";
import { purgeDeleted } from "#lib/traces/purge";
import { listTraces } from "#lib/traces/queries";
import { housekeep } from "#server/background/housekeeping";
import { afterNext } from "../support/meanwhile.ts";
import { refuse } from "../support/refusing.ts";
import { findResidue, indexedTerms } from "../support/residue.ts";
import { makeUser, provideOwner } from "../support/server.ts";
import { clearTraces, indexAll } from "./searching.ts";
import { getUploads, messages } from "./uploads.ts";

const { userId } = await provideOwner();
afterEach(clearTraces);

/** All that a worker does behind a deletion, with the uploads past their retention. */
async function purgeAll(): Promise<void> {
  await purgeDeleted(30);
  while (await purgeNext());
  await accountTraces(100);
  await pool().query("update ingest_job set finished_at = now() - interval '1 year'");
  await housekeep();
}

const getTerms = (...texts: string[]) => {
  const terms: number[] = [];
  for (const text of texts) forEachTerm(text, (term) => terms.push(term));
  return terms;
};
const areIndexed = async (...texts: string[]) => {
  const indexed = await indexedTerms();
  return getTerms(...texts).filter((term) => indexed.has(term)).length;
};
const readBlocks = async () => {
  const { rows } = await pool().query("select documents from search_block order by documents desc");
  return rows.map(({ documents }) => documents as number);
};

/** A session whose every text has a word that nothing else has. */
const secret = (sourceId: string, word: string, more: string[] = []) => ({
  sourceId,
  source: `${word}source`,
  title: `${word}title`,
  model: `${word}model`,
  project: `${word}project`,
  metadata: {
    [`${word}key`]: `${word}metadata`,
    branch: `${word}branch`,
    commits: [{ hash: "abc1234", subject: `${word}subject`, branch: `${word}made` }],
    pullRequests: [{ url: `https://github.com/ada/${word}repository/pull/1` }],
  },
  messages: messages(`${word}content`, ...more).map((message) => ({
    ...message,
    metadata: { note: `${word}note`, tool: { name: "Read", input: { file_path: `${word}folder/${word}file.ts` } } },
  })),
});

/** More traces than a block takes, so that the first blocks are full and never merged again. */
const insertFiller = () =>
  pool().query(
    `insert into trace (user_id, id, source, source_id, title, message_count, token_count, content_hash, upload_sequence,
       activity_at, ledger_due) select $1, gen_random_uuid(), 'test', 'n' || n, 'filler', 0, 0, '', 0, now(), false
     from generate_series(1, 2200) as n`,
    [userId],
  );

/** As autovacuum does after so many rows: plans for a few would take ten times as long. */
const analyze = () => pool().query("analyze trace, search_document");

describe("after a deletion and its purge", () => {
  test("nothing of a trace is in any table but its key and the audit events", { timeout: 120_000 }, async () => {
    const { send, stored } = getUploads(userId);
    await send(secret("gone", "zyxgone"), secret("kept", "zyxkept"));
    await indexAll();
    await send(secret("gone", "zyxgone", ["zyxgonelater"])); // its former postings lead nowhere from now on
    await accountTraces(10);
    const id = (await stored("gone"))?.id ?? "";
    await shareTrace(userId, id, { ...wholeRange, masked: false, days: null }, operator);
    await insertFiller();
    await indexAll();
    await analyze();
    expect((await readBlocks())[0]).toBeGreaterThan(2048);
    expect(await areIndexed("zyxgonecontent", "zyxgonelater", "gone")).toBe(3);

    await deleteTrace(userId, id, operator);
    await purgeAll();

    expect(await areIndexed("zyxgonecontent", "zyxgonelater", "zyxgonetitle", "gone")).toBe(0);
    expect(await areIndexed("zyxkeptcontent", "filler")).toBe(2);
    const residue = (await findResidue(["zyxgone", id])).toSorted((a, b) => a.table.localeCompare(b.table));
    expect(residue.map(({ table }) => table)).toEqual(["public.audit_event", "public.audit_event", "public.trace"]);
    expect(residue[2]?.row.match(/zyx\w+/g)).toEqual(["zyxgonesource"]);
    const found = await listTraces(userId, { q: "zyxkeptcontent" }, { limit: 9 });
    expect(found.traces.map(({ sourceId }) => sourceId)).toEqual(["kept"]);
  });

  test("of many traces, the index is rewritten block by block", { timeout: 120_000 }, async () => {
    await insertFiller();
    await getUploads(userId).send(secret("kept", "zyxkept"));
    await indexAll();
    await analyze();
    const before = await readBlocks();
    const { mark } = await countSelection(userId, { source: "test" });
    await deleteSelection(userId, { source: "test" }, mark, operator);
    let steps = 0;
    for (let blocks = before.length; await purgeNext(); steps += 1) {
      const left = (await readBlocks()).length;
      expect(blocks - left).toBeLessThanOrEqual(1);
      blocks = left;
    }
    expect(steps).toBeGreaterThanOrEqual(before.length);
    expect(await readBlocks()).toEqual([1]);
    expect([await areIndexed("filler"), await areIndexed("zyxkeptcontent")]).toEqual([0, 1]);
  });

  test("that is interrupted continues where it was", async () => {
    const { send, stored } = getUploads(userId);
    await send(secret("gone", "zyxgone"), secret("kept", "zyxkept"));
    await indexAll();
    await deleteTrace(userId, (await stored("gone"))?.id ?? "", operator);
    const allow = await refuse("delete on search_block");
    await expect(purgeNext()).rejects.toThrow("refused");
    await allow();
    while (await purgeNext());
    expect([await areIndexed("zyxgonecontent"), await areIndexed("zyxkeptcontent")]).toEqual([0, 1]);
  });

  test("a trace that is deleted while it is being indexed leaves no terms", async () => {
    const { send } = getUploads(userId);
    await send(secret("gone", "zyxgone"));
    afterNext("insert into search_block", (tx) =>
      tx.query("update trace set deleted_at = now(), content_hash = '' where user_id = $1", [userId]),
    );
    await indexNext();
    while (await purgeNext());
    expect(await areIndexed("zyxgonecontent")).toBe(0);
  });
});

test("after the deletion of an account nothing of its traces is in any table", async () => {
  const other = await makeUser({ name: "Bob", email: "bob@example.org", password: "" });
  await getUploads(other).send(secret("left", "zyxleft"));
  await getUploads(userId).send(secret("kept", "zyxkept"));
  await indexAll();
  await accountTraces(10);
  await deleteAccount(other);
  expect(await findResidue(["zyxleft", other, "bob@example.org"])).toEqual([]);
  expect([await areIndexed("zyxleftcontent"), await areIndexed("zyxkeptcontent")]).toEqual([0, 1]);
});
