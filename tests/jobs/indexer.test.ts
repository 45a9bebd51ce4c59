import { beforeEach, describe, expect, test, vi } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool, snapshot, transaction } from "#lib/db/client";
import { compactNext, makeCompaction } from "#lib/search/index/compact";
import { countPending, matchBlocks } from "#lib/search/index/find-documents";
import { indexNext } from "#lib/search/index/indexer";
import { purgeNext } from "#lib/search/index/purge";
import { computeWeights, rank } from "#lib/search/index/rank-documents";
import { parseQuery } from "#lib/search/query";
import { deleteTrace } from "#lib/traces/deletion";
import { setMarks } from "#lib/traces/marks";
import { drainQueues } from "#server/background/drain";
import { afterNext } from "../support/meanwhile.ts";
import { refuse } from "../support/refusing.ts";
import { makeUser, provideOwner } from "../support/server.ts";
import { clearTraces, indexAll, searchSourceIds } from "./searching.ts";
import { getUploads, messages } from "./uploads.ts";

const { userId } = await provideOwner();
const { accept, run, send, findId } = getUploads(userId);
beforeEach(clearTraces);

const search = (q: string, filter = {}) => searchSourceIds(userId, q, filter);

describe("the indexer", () => {
  test("yields to jobs before it reads any text", async () => {
    await send({ sourceId: "one", messages: messages("alpha") });
    const [asked, way] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const indexing = indexNext(0, () => {
      asked.resolve();
      return way.promise;
    });
    await asked.promise;
    expect(await search("alpha")).toEqual([]);
    way.resolve();
    expect(await indexing).toBe(1);
    expect(await search("alpha")).toEqual(["one"]);
  });

  test("leaves recently changed traces alone until they have settled", async () => {
    await send({ sourceId: "growing", messages: messages("alpha") });
    expect(await indexNext(60)).toBe(0);
    await pool().query("update trace set stored_at = now() - interval '2 minutes'");
    expect(await indexNext(60)).toBe(1);
    expect(await search("alpha")).toEqual(["growing"]);
  });

  test("that fails halfway leaves nothing behind, and the next run indexes everything", async () => {
    await send({ sourceId: "one", messages: messages("alpha") });
    const allow = await refuse("insert on search_document");
    await expect(indexNext()).rejects.toThrow("refused");
    await allow();
    const { rows } = await pool().query("select (select count(*)::int from search_block) as blocks");
    expect([rows[0].blocks, await countPending(userId)]).toEqual([0, 1]);
    await indexAll();
    expect(await search("alpha")).toEqual(["one"]);
  });

  test("skips a trace that an upload has locked, and indexes it next time", async () => {
    await send({ sourceId: "held", messages: messages("alpha") }, { sourceId: "free", messages: messages("alpha") });
    await transaction(async (tx) => {
      await tx.query("select from trace where user_id = $1 and source_id = 'held' for update", [userId]);
      await indexNext();
      expect([await search("alpha"), await countPending(userId)]).toEqual([["free"], 1]);
    });
    await indexAll();
    expect(await search("alpha")).toEqual(["free", "held"]);
  });

  test("passes over an account that is being deleted, and serves the others", async () => {
    const staying = await makeUser({ name: "Bob", email: "bob@example.org", password: "" });
    const others = getUploads(staying);
    for (const { send: sendOf } of [{ send }, others]) {
      await sendOf({ sourceId: "gone", messages: messages("beta") }, { sourceId: "kept", messages: messages("alpha") });
    }
    await pool().query("update trace set stored_at = now() - interval '1 hour' where user_id = $1", [userId]);
    const leave = (work: () => Promise<void>) =>
      transaction(async (leaving) => {
        await leaving.query(`select from "user" where id = $1 for update`, [userId]);
        await work();
      });
    await leave(async () => {
      expect([await indexNext(), await indexNext()]).toEqual([2, 0]);
    });
    expect([await search("alpha"), await searchSourceIds(staying, "alpha", {})]).toEqual([[], ["kept"]]);
    await indexAll();
    for (const [user, id] of [
      [userId, await findId("gone")],
      [staying, (await others.stored("gone"))?.id ?? ""],
    ] as const)
      await deleteTrace(user, id, operator);
    const toPurge = async () => {
      const { rows } = await pool().query("select user_id as id from trace where search_pending");
      return rows.map(({ id }) => id);
    };
    await leave(async () => {
      while (await purgeNext());
      expect(await toPurge()).toEqual([userId]);
    });
    while (await purgeNext());
    expect(await toPurge()).toEqual([]);
  });

  test("serves the others first where it fails at one account's sessions", async () => {
    await send({ sourceId: "one", messages: messages("alpha") });
    const other = getUploads(await makeUser({ name: "Eve", email: "eve@example.org", password: "" }));
    await other.send({ sourceId: "two", messages: messages("beta") });
    const fail = () => Promise.reject(Object.assign(new Error("it fails"), { code: "57014" }));
    afterNext("from message", fail);
    await expect(indexNext()).rejects.toThrow("it fails");
    expect(await indexNext()).toBe(1);
    expect(await search("alpha")).toEqual([]);
    await indexAll();
    expect(await search("alpha")).toEqual(["one"]);
  });

  test("leaves a session alone that it can't read, and indexes all others of its account", async () => {
    await send({ sourceId: "odd", messages: messages("alpha") });
    await send({ sourceId: "one", messages: messages("alpha") }, { sourceId: "two", messages: messages("alpha") });
    const unreadable = new RangeError("it is odd");
    for (const _ of ["all three", "the one that waits longest"]) {
      afterNext("from message", () => Promise.reject(unreadable));
      await expect(indexNext()).rejects.toThrow(unreadable);
    }
    await indexAll();
    expect([await search("alpha"), await countPending(userId)]).toEqual([["one", "two"], 1]);
  });

  test("leaves a trace that changed while it was read for the next run", async () => {
    await send({ sourceId: "moving", messages: messages("alpha") });
    const jobId = await accept([{ sourceId: "moving", messages: messages("alpha", "beta") }]);
    afterNext("insert into search_block", (tx) =>
      tx.query("update trace set content_hash = '' where user_id = $1 and source_id = 'moving'", [userId]),
    );
    await indexNext();
    expect([await search("alpha"), await countPending(userId)]).toEqual([[], 1]);
    await run(jobId);
    await indexAll();
    expect(await search("alpha beta")).toEqual(["moving"]);
  });

  test("leaves one whose tag was replaced while it was read for the next run", async () => {
    await send({ sourceId: "one", messages: messages("alpha") });
    const id = await findId("one");
    await setMarks(userId, id, { tags: ["former"] });
    afterNext("from message", () => setMarks(userId, id, { tags: ["latter"] }));
    await indexAll();
    expect(await search("latter")).toEqual(["one"]);
    expect(await search("former")).toEqual([]);
  });

  test("does nothing while another process holds the lock", async () => {
    await send({ sourceId: "one", messages: messages("alpha") });
    await transaction(async (tx) => {
      await tx.query("select pg_advisory_xact_lock(hashtextextended('spoor.search', 0))");
      expect(await indexNext()).toBe(0);
    });
    expect(await indexNext()).toBe(1);
  });

  test("merges small blocks, and everything live in them is still found", async () => {
    for (let n = 0; n < 20; n += 1) {
      await send({ sourceId: `s${n}`, messages: messages(`alpha number${n}`) });
      if (n === 5) await deleteTrace(userId, await findId("s3"), operator);
      await indexAll();
    }
    const { rows } = await pool().query("select count(*)::int as blocks from search_block");
    expect(rows[0].blocks).toBeLessThan(8);
    expect(await search("alpha")).toHaveLength(19);
    for (const n of [0, 7, 19]) expect(await search(`number${n}`)).toEqual([`s${n}`]);
    expect(await search("number3")).toEqual([]);
    const { rows: left } = await pool().query(
      `select count(*)::int as documents from search_document join trace using (user_id)
       where trace.id = trace_id and source_id = 's3'`,
    );
    expect(left[0].documents).toBe(0);
  });

  test("compacts blocks that no merge has taken, unless it is interrupted", async () => {
    for (const n of [1, 2, 3, 4, 5]) {
      await send({ sourceId: `s${n}`, messages: messages(`alpha number${n}`) });
      await indexNext(0, undefined, "busy");
    }
    const blocks = async () => (await pool().query("select count(*)::int as count from search_block")).rows[0].count;
    const found = async () => [await search("alpha"), await search("number3"), await search("numb")];
    const before = await found();
    expect([before[0]?.length, before[1], before[2]?.length]).toEqual([5, ["s3"], 5]);
    expect([await compactNext(async () => false), await blocks()]).toEqual([false, 5]);
    await deleteTrace(userId, await findId("s5"), operator);
    expect([await compactNext(), await blocks(), await compactNext()]).toEqual([true, 1, false]);
    expect(await found()).toEqual([
      before[0]?.filter((id) => id !== "s5"),
      ["s3"],
      before[2]?.filter((id) => id !== "s5"),
    ]);
  });

  test("compacts after half a minute's calm, and again after as long where it was interrupted or failed", async () => {
    for (const n of [1, 2, 3, 4, 5]) {
      await send({ sourceId: `s${n}`, messages: messages(`alpha number${n}`) });
      await indexNext(0, undefined, "busy");
    }
    const blocks = async () => (await pool().query("select count(*)::int as count from search_block")).rows[0].count;
    const clock = performance.now.bind(performance);
    let [passed, asked] = [0, 0];
    const now = vi.spyOn(performance, "now").mockImplementation(() => clock() + passed);
    let isCalm = async () => false;
    const compaction = makeCompaction(() => {
      asked += 1;
      return isCalm();
    });
    try {
      await compaction.next();
      expect(asked).toBe(0);
      passed = 31_000;
      await compaction.next();
      await compaction.next(); // the first one was interrupted
      expect([asked, await blocks()]).toEqual([1, 5]);
      passed += 31_000;
      isCalm = () => Promise.reject(new Error("refused"));
      await compaction.next();
      await compaction.next();
      expect([asked, await blocks()]).toEqual([2, 5]);
      passed += 31_000;
      isCalm = async () => true;
      compaction.postpone();
      await compaction.next();
      expect([asked, await blocks()]).toEqual([2, 5]);
      passed += 31_000;
      await compaction.next();
      expect(await blocks()).toBe(1);
    } finally {
      now.mockRestore();
    }
  });

  test("keeps the order in time of what it compacts", async () => {
    const blocks = async () =>
      (await pool().query("select coalesce(latest_id, id)::int as age from search_block order by id")).rows.map(
        ({ age }) => age,
      );
    const index = async (name: string) => {
      await send({ sourceId: name, messages: messages(`alpha ${name}`) });
      await indexNext(0, undefined, "busy");
    };
    for (const n of [1, 2, 3, 4, 5]) await index(`s${n}`);
    await pool().query(
      "update search_block set postings = postings * 40 where id = (select max(id) from search_block where user_id = $1)",
      [userId],
    );
    const ages = await blocks();
    expect(await compactNext()).toBe(true);
    // The last one is of another size: it stays, and is newer than the merged one, whose id is higher.
    expect(await blocks()).toEqual([ages[4], ages[3]]);
    const ranked = await snapshot(async (tx) => {
      const query = parseQuery("alpha");
      const matched = await matchBlocks(tx, userId, query);
      return rank(tx, userId, query, matched, { weights: computeWeights(matched), limit: 5 });
    });
    const { rows } = await pool().query("select min(id)::text as newest from search_block");
    expect([ranked.length, ranked[0]?.blockId]).toEqual([5, rows[0].newest]);
  });

  test("is asked again for what it has told before, whatever was written since", async () => {
    const found = () => Promise.all(["alpha", "beta", "numb"].map((q) => search(q)));
    for (const n of [1, 2, 3, 4, 5]) {
      await send({ sourceId: `s${n}`, messages: messages(`alpha number${n}`) });
      await indexNext(0, undefined, "busy");
      expect((await found()).map(({ length }) => length)).toEqual([n, 0, n]);
    }
    await compactNext();
    expect((await found()).map(({ length }) => length)).toEqual([5, 0, 5]);
    await send({ sourceId: "s3", messages: messages("beta instead") });
    await indexNext(0, undefined, "busy");
    await deleteTrace(userId, await findId("s4"), operator);
    expect((await found()).map(({ length }) => length)).toEqual([3, 1, 3]);
  });

  test("merges later while uploads arrive", async () => {
    const blocks = async () => (await pool().query("select count(*)::int as count from search_block")).rows[0].count;
    const index = async (name: string, load: "idle" | "busy") => {
      await send({ sourceId: name, messages: messages(`alpha ${name}`) });
      await indexNext(0, undefined, load);
      return blocks();
    };
    for (const n of [1, 2, 3, 4]) expect(await index(`busy${n}`, "busy")).toBe(n);
    expect(await index("idle", "idle")).toBe(1);
    expect(await search("alpha")).toHaveLength(5);
  });

  test("runs where nothing but /api/cron is called", async () => {
    await accept([{ sourceId: "cron", messages: messages("alpha") }]);
    await drainQueues(20);
    expect(await search("alpha")).toEqual(["cron"]);
  });
});
