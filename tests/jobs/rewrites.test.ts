import { randomBytes } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { closeDatabase, limitStatements, patiently, pool } from "#lib/db/client";
import { isLong } from "../support/long.ts";
import { isDistributed } from "../support/nodes.ts";
import { provideOwner } from "../support/server.ts";
import { indexAll } from "./searching.ts";
import { getUploads, messages } from "./uploads.ts";

// As where a web's process or a function processes: its statements are limited, and those of its work in the background are not.
limitStatements(10);
// A pool keeps the limit that it was made with.
await closeDatabase();
afterAll(closeDatabase);
const { userId } = await provideOwner();
const { send } = getUploads(userId);

const count = 64;
const contents = Array.from({ length: count }, () => randomBytes(4000).toString("base64"));
/** A session of 340 KB; its messages from `from` on differ in each version. */
const session = (version: number, from = 0) => ({
  sourceId: "rewritten",
  messages: messages(...contents.map((content, at) => (at < from ? content : `${version} ${content}`))),
});

async function megabytes(table: string): Promise<number> {
  const size = isDistributed ? "citus_total_relation_size" : "pg_total_relation_size";
  const { rows } = await pool().query(`select ${size}($1::regclass) / 1e6 as size`, [table]);
  return Number(rows[0].size);
}

test.each(isLong ? [4, 8, 20, 100] : [4])(
  "%i rewrites of a session leave its messages and their index at about twice their size",
  async (versions) => {
    await send(session(0));
    await indexAll();
    await pool().query("vacuum message, search_bucket");
    const live = { messages: await megabytes("message"), index: await megabytes("search_bucket") };
    await patiently(async () => {
      for (let version = 1; version <= versions; version += 1) {
        expect((await send(session(version))).messages.written).toBe(count);
        if (version % (versions / 4) === 0) await indexAll();
      }
    });
    expect(live.messages).toBeGreaterThan(0.34);
    expect(await megabytes("message")).toBeLessThan(2.1 * live.messages);
    expect(await megabytes("search_bucket")).toBeLessThan(3 * live.index);
  },
);

test("a rewrite writes the rows that differ, and no others", async () => {
  await send(session(0, count));
  expect((await send(session(1, count - 3))).messages.written).toBe(3);
  const { rows } = await pool().query("select count(*)::int as transactions from message group by xmin::text");
  expect(rows.map(({ transactions }) => transactions).toSorted()).toEqual([count - 3, 3].toSorted());
});
