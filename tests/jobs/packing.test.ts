import { afterEach, describe, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { deleteAccount } from "#lib/auth/deletion";
import { pool } from "#lib/db/client";
import { generation, refuseNewer } from "#lib/db/sql/upgrading";
import { setEnv } from "#lib/env";
import { decide } from "#lib/findings/rulings";
import { maskStored } from "#lib/ingest/masking/stored";
import { accountTraces } from "#lib/ledger/account";
import { checkReadiness } from "#lib/observability/readiness";
import { packQuiet } from "#lib/packs/pack";
import { fromRowsOrPacks } from "#lib/packs/read";
import { readExcerpts } from "#lib/search/excerpts";
import { parseQuery } from "#lib/search/query";
import { housekeep } from "#lib/server/housekeeping";
import { deleteTrace } from "#lib/traces/deletion";
import { purgeDeleted } from "#lib/traces/purge";
import { countUnreadable } from "#lib/traces/unreadable";
import { findResidue } from "../support/residue.ts";
import { makeUser, provideOwner } from "../support/server.ts";
import { beQuiet, count, idOf, pack } from "./packing.ts";
import { clearTraces, indexAll, searchSourceIds, whileUpgrading } from "./searching.ts";
import { messages, uploadsOf } from "./uploads.ts";

const { userId } = await provideOwner();
const { accept, run, send, stored } = uploadsOf(userId);
afterEach(clearTraces);

test("an update by a release that knows no packs is refused, and what is stored stays as it is", async () => {
  await send({ sourceId: "ship", messages: messages("one", "two") });
  await pack();
  const former = `update trace set message_count = 3, stored_at = now(), search_pending = true where source_id = 'ship'`;
  await pool().query("update trace set packed_at = now() - interval '1 minute'");
  await expect(pool().query(former)).rejects.toThrow("trace_packed_check");
  expect((await stored("ship"))?.contents).toEqual(["one", "two"]);
  await send({ sourceId: "ship", messages: messages("one", "two", "three") });
  expect((await stored("ship"))?.contents).toEqual(["one", "two", "three"]);
});

test("messages of a session that can't be found are counted", async () => {
  await send({ sourceId: "ship", messages: messages("one", "two", "three") });
  const id = await idOf("ship");
  expect(await countUnreadable(userId, id)).toBe(0);
  await pack();
  expect(await countUnreadable(userId, id)).toBe(0);
  // As a release that knows no packs left it, before the database refused that.
  await pool().query("insert into message (user_id, trace_id, position, content) values ($1, $2, 9, 'four')", [
    userId,
    id,
  ]);
  expect(await countUnreadable(userId, id)).toBe(2);
});

test("once packs may be stored, a version that can't read them does not start", async () => {
  await pool().query("delete from server_setting where key = 'generation'");
  await whileUpgrading(async () => {
    expect(await packQuiet(1)).toBe(0);
    expect((await pool().query("select value from server_setting where key = 'generation'")).rows).toEqual([]);
  });
  await pack();
  const { rows } = await pool().query("select value::int from server_setting where key = 'generation'");
  expect(rows).toEqual([{ value: generation }]);
  await refuseNewer();
  await pool().query("update server_setting set value = $1 where key = 'generation'", [generation + 1]);
  await expect(refuseNewer()).rejects.toThrow("Start the newer version");
  await pack();
  await expect(refuseNewer()).rejects.toThrow("Start the newer version");
  expect((await checkReadiness()).checks.migrations).toEqual({
    ok: false,
    detail: expect.stringContaining("newer version"),
  });
  await pool().query("delete from server_setting where key = 'generation'");
});

describe("what is removed of a packed session", () => {
  test("a masked secret is in no table afterwards", { timeout: 60_000 }, async () => {
    const likely = "Tr0ub4dorx3zyx9";
    await send({ sourceId: "ship", messages: messages("nothing", `password: "${likely}"`) });
    await pack();
    const { rows } = await pool().query("select kind, mark from finding");
    expect(rows).toHaveLength(1);
    await decide(userId, { ...rows[0], verdict: "mask" }, operator);
    while ((await maskStored(10)) > 0);
    await pool().query("update ingest_job set finished_at = now() - interval '1 year'");
    await pool().query("delete from upload");
    expect(await findResidue([likely])).toEqual([]);
    expect((await stored("ship"))?.contents[0]).toBe("nothing");
    expect(await pack()).toBe(1);
    expect(await findResidue([likely])).toEqual([]);
  });

  test("a deleted session leaves no pack", async () => {
    await send({ sourceId: "ship", messages: messages("confidentialword") });
    await pack();
    await pool().query("delete from upload");
    expect((await findResidue(["confidentialword"])).map(({ table }) => table)).toContain("public.message_pack");
    await deleteTrace(userId, await idOf("ship"), operator);
    await purgeDeleted(10);
    expect(await count("message_pack")).toBe(0);
    expect((await findResidue(["confidentialword"])).map(({ table }) => table)).not.toContain("public.message_pack");
  });

  test("a session that a release without packs has deleted leaves no pack after the next housekeeping", async () => {
    await send({ sourceId: "ship", messages: messages("confidentialword") });
    await send({ sourceId: "kept", messages: messages("another") });
    expect(await pack()).toBe(2);
    // As that release leaves it, which finds no messages to purge.
    await pool().query("update trace set deleted_at = now(), message_count = 0 where source_id = 'ship'");
    await pool().query("delete from upload");
    expect(await purgeDeleted(10)).toBe(0);
    expect(await count("message_pack")).toBe(2);
    await housekeep();
    expect(await count("message_pack")).toBe(1);
    expect((await findResidue(["confidentialword"])).map(({ table }) => table)).not.toContain("public.message_pack");
    expect((await stored("kept"))?.contents).toEqual(["another"]);
  });

  test("a deleted account leaves no pack", async () => {
    const leaving = await makeUser({ name: "Bob", email: "bob@example.org", password: "" });
    await uploadsOf(leaving).send({ sourceId: "theirs", messages: messages("theirs") });
    expect(await pack()).toBe(1);
    expect(await count("message_pack")).toBe(1);
    await deleteAccount(leaving);
    expect(await count("message_pack")).toBe(0);
  });
});

describe("not packed", () => {
  const isKept = async () => [await packQuiet(10), await count("message_pack")];
  const prepare = async (content = "one") => {
    await send({ sourceId: "ship", messages: messages(content) });
    await accountTraces(100);
    await indexAll();
    await beQuiet();
  };

  test.each([
    ["a session that was changed in the last days", "stored_at = now() - interval '6 days'"],
    ["one that the ledger has not read", "ledger_due = true"],
    ["one that is not indexed", "search_pending = true"],
    ["one that is deleted", "deleted_at = now()"],
    ["one of an earlier version, whose size is not known", "stored_bytes = null, messages_bytes = null"],
  ])("is %s", async (_, change) => {
    await prepare();
    await pool().query(`update trace set ${change}`);
    expect(await isKept()).toEqual([0, 0]);
  });

  test("is one that is being masked", async () => {
    await prepare();
    await pool().query("insert into masking_task (user_id, trace_id) select user_id, id from trace");
    expect(await isKept()).toEqual([0, 0]);
    await pool().query("delete from masking_task");
  });

  test("is anything with PACK_AFTER_DAYS=0, while uploads come, and without time", async () => {
    await prepare();
    setEnv({ PACK_AFTER_DAYS: "0" });
    expect(await isKept()).toEqual([0, 0]);
    setEnv({ PACK_AFTER_DAYS: "7" });
    expect([await packQuiet(10, async () => false), await packQuiet(0)]).toEqual([0, 0]);
    expect(await isKept()).toEqual([1, 1]);
  });

  test("is anything for a day after an upgrade", async () => {
    await prepare();
    await whileUpgrading(async () => expect(await isKept()).toEqual([0, 0]));
    expect(await isKept()).toEqual([1, 1]);
  });

  test("is one with a very long message, which is looked at once", { timeout: 60_000 }, async () => {
    await prepare("x".repeat(8 * 1024 * 1024));
    expect(await isKept()).toEqual([0, 0]);
    const { rows } = await pool().query("select packed_at from trace");
    expect(rows[0].packed_at).not.toBeNull();
    await run(await accept([{ sourceId: "ship", messages: messages("short"), replace: true }]));
    expect(await pack()).toBe(1);
    expect((await stored("ship"))?.contents).toEqual(["short"]);
  });
});

test("a pack that is damaged is told, and nothing is made of it", async () => {
  await send({ sourceId: "ship", messages: messages("one", "two") });
  await pack();
  await pool().query("update message_pack set body = overlay(body placing '\\x00'::bytea from 3), bytes = bytes - 1");
  await expect(stored("ship")).rejects.toThrow();
  const job = await accept([{ sourceId: "ship", messages: messages("one", "two", "three") }]);
  await expect(run(job)).rejects.toThrow();
  expect([await count("message"), await count("message_pack")]).toEqual([0, 1]);
  await pool().query("delete from ingest_job");
});

test("a phrase is not found in a packed session because of large metadata", async () => {
  const large = { output: Array.from({ length: 60_000 }, (_, n) => `line ${n}`).join(" ") };
  const said = [
    { position: 0, content: "gangway repairs, and a message", role: "assistant", metadata: large },
    { position: 1, content: "repairs message of the gangway repairs", role: "assistant" },
  ];
  const phrase = '"gangway repairs message"';
  await send({ sourceId: "without", messages: said });
  await send({
    sourceId: "with",
    messages: [...said, { position: 2, content: "gangway repairs message", role: "user" }],
  });
  await indexAll();
  expect(await searchSourceIds(userId, phrase)).toEqual(["with"]);
  expect(await pack()).toBe(2);
  expect(await searchSourceIds(userId, phrase)).toEqual(["with"]);
  await pool().query("update trace set deleted_at = now() where source_id = 'with'");
  expect(await readExcerpts(userId, [await idOf("with")], parseQuery("gangway"))).toEqual(new Map());
});

test("a reader looks for rows again where a session was unpacked between its statements", async () => {
  const rows = [[], ["unpacked"]];
  expect(
    await fromRowsOrPacks(
      async () => rows.shift() ?? [],
      async () => [],
    ),
  ).toEqual(["unpacked"]);
  expect(
    await fromRowsOrPacks(
      async () => [],
      async () => ["packed"],
    ),
  ).toEqual(["packed"]);
  await expect(
    fromRowsOrPacks(
      async () => [],
      async () => Promise.reject(new Error("damaged")),
    ),
  ).rejects.toThrow("damaged");
});
