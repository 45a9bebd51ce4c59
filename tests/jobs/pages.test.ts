import pg from "pg";
import { describe, expect, test, vi } from "vitest";
import { pool } from "#lib/db/client";
import { findInMessages } from "#lib/messages/find-in-messages";
import { readPieces } from "#lib/messages/message-parts";
import { readEarlier, readMessages, readMessagesAt } from "#lib/messages/read-messages";
import { readExcerpts } from "#lib/search/excerpts";
import { parseQuery } from "#lib/search/query";
import { exportTraces } from "#lib/traces/export/export";
import { listTraces } from "#lib/traces/queries";
import { needsOneServer } from "../support/nodes.ts";
import { provideOwner } from "../support/server.ts";

const { userId } = await provideOwner();

const MiB = 1024 * 1024;

/** A trace whose messages have the content and metadata that SQL makes of their position `p`. @returns its id */
async function storeTrace(source: string, count: number, content: string, metadata = "null"): Promise<string> {
  const { rows } = await pool().query<{ id: string }>(
    `insert into trace (user_id, id, source, source_id, message_count, token_count, content_hash, upload_sequence, activity_at)
     values ($1, gen_random_uuid(), $2, 'pages', $3, 0, '', 1, now()) returning id`,
    [userId, source, count],
  );
  const [trace] = rows;
  await pool().query(
    `insert into message (user_id, trace_id, position, content, metadata)
     select $1, $2, p, ${content}, ${metadata} from generate_series(1, ${count}) p`,
    [userId, trace?.id],
  );
  return trace?.id ?? "";
}

async function readPages(traceId: string, bounds: { limit: number; maxBytes?: number }) {
  const pages = [];
  for (let after: number | null = -1; after !== null; ) {
    const page: Awaited<ReturnType<typeof readMessages>> = await readMessages(userId, traceId, after, bounds);
    pages.push(page.messages);
    after = page.nextAfter;
  }
  return pages;
}

/** 64 kB of text that no compression makes smaller by much, different for every `p`. */
const noise = "(select string_agg(md5((p * 10000 + n)::text), '') from generate_series(1, 2000) n)";

/** How many blocks of what is stored beside the messages were read so far. */
async function toastReads(): Promise<number> {
  // Each connection counts by itself, and else adds that to the sum a second later.
  const all = await Promise.all(Array.from({ length: pool().totalCount }, () => pool().connect()));
  await Promise.all(all.map((one) => one.query("select pg_stat_force_next_flush()")));
  for (const one of all) one.release();
  const { rows } = await pool().query<{ blocks: string }>(
    `select toast_blks_read + toast_blks_hit as blocks from pg_statio_user_tables where relname = 'message'`,
  );
  return Number(rows[0]?.blocks);
}

const countBytes = (messages: { content: string; metadata: unknown }[]) =>
  messages.reduce((sum, { content, metadata }) => sum + content.length + JSON.stringify(metadata ?? "").length - 2, 0);

describe("a page of messages", () => {
  test("has at most 8 MiB, whatever its limit, and the next page continues after it", async () => {
    const id = await storeTrace("large", 20, `repeat(chr(96 + p), ${MiB})`);
    const pages = await readPages(id, { limit: 1000 });
    expect(pages.map((page) => page.map(({ position }) => position))).toEqual([
      [1, 2, 3, 4, 5, 6, 7, 8],
      [9, 10, 11, 12, 13, 14, 15, 16],
      [17, 18, 19, 20],
    ]);
    expect(pages[2]?.[3]?.content === "t".repeat(MiB)).toBe(true);
  });

  test("has at least one message, however large", async () => {
    const id = await storeTrace("larger", 3, `repeat('x', case p when 2 then ${9 * MiB} else 1 end)`);
    expect((await readPages(id, { limit: 1000 })).map((page) => page.length)).toEqual([1, 1, 1]);
  });

  test("of single positions ends with the message that exceeds 8 MiB", async () => {
    const id = await storeTrace("positions", 20, `repeat('x', case p when 2 then ${9 * MiB} else 1 end)`);
    const readPositions = async (...positions: number[]) =>
      (await readMessagesAt(userId, id, positions)).map(({ position }) => position);
    expect(await readPositions(3, 1, 2)).toEqual([1, 2]);
    expect(await readPositions(3, 1, 99)).toEqual([1, 3]);
  });

  test("counts metadata as sent, not as compressed", async () => {
    const id = await storeTrace("metadata", 9, "''", `jsonb_build_object('k', repeat('z', ${MiB}))`);
    const pages = await readPages(id, { limit: 1000 });
    expect(pages.map((page) => page.length)).toEqual([7, 2]);
    for (const page of pages) expect(countBytes(page)).toBeLessThanOrEqual(8 * MiB);
  });

  test("ends at its limit, and has no next page after the last", async () => {
    const id = await storeTrace("small", 7, "'x'");
    expect((await readPages(id, { limit: 3 })).map((page) => page.length)).toEqual([3, 3, 1]);
    expect((await readPages(id, { limit: 7 })).map((page) => page.length)).toEqual([7]);
  });

  const blocks = needsOneServer("the counts of blocks that were read are each server's own");
  test.skipIf(blocks)("does not read the metadata after its end", async () => {
    const id = await storeTrace("unread", 70, "'x'", `jsonb_build_object('k', ${noise})`);
    const reads = async (maxBytes: number) => {
      const before = await toastReads();
      const { messages } = await readMessages(userId, id, -1, { limit: 200, maxBytes });
      return { rows: messages.length, blocks: (await toastReads()) - before };
    };
    const whole = await reads(100 * MiB);
    const short = await reads(200_000);
    expect([whole.rows, short.rows]).toEqual([70, 3]);
    expect(short.blocks * 20).toBeLessThan(whole.blocks);
  });
});

/** How many connections to this database are idle in a transaction. */
async function openTransactions(): Promise<number> {
  const { rows } = await pool().query(
    "select count(*)::int as count from pg_stat_activity where datname = current_database() and state like 'idle in%'",
  );
  return rows[0].count;
}

describe("an export", () => {
  test("comes in parts of about 1 MiB and holds no connection while its reader waits", async () => {
    await storeTrace("export", 40, `repeat(chr(48 + p), ${MiB / 4})`);
    const reader = (await exportTraces(userId, { source: "export" })).getReader();
    let text = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      expect(value.byteLength).toBeLessThan(1.1 * MiB);
      text += Buffer.from(value).toString();
      expect(pool().totalCount - pool().idleCount).toBeLessThanOrEqual(1); // the read-ahead of one part
      await expect.poll(openTransactions).toBe(0); // once the read-ahead is done
    }
    const [line] = text
      .trim()
      .split("\n")
      .map((one) => JSON.parse(one));
    expect(line.messages).toHaveLength(40);
    expect(line.messages[39].content === "X".repeat(MiB / 4)).toBe(true);
  });
});

test("an export has each trace once, also those that grow while it is read", async () => {
  await pool().query("delete from trace");
  for (let n = 0; n < 50; n += 1) await storeTrace(`moving-${n}`, 1, `repeat('x', ${MiB / 8})`);
  const parts = (await exportTraces(userId, {})).getReader();
  const read = [await parts.read()];
  const moved = await pool().query<{ source: string }>(
    "update trace set activity_at = now() where source in ('moving-0', 'moving-1', 'moving-49') returning source",
  );
  expect(moved.rowCount).toBe(3);
  while (!read.at(-1)?.done) read.push(await parts.read());
  const text = Buffer.concat(read.map(({ value }) => value ?? new Uint8Array())).toString();
  const sources = text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line).source as string]));
  expect(sources.toSorted()).toEqual(Array.from({ length: 50 }, (_, n) => `moving-${n}`).toSorted());
});

test("an export reads every page of the list with the plan setting", async () => {
  await pool().query("delete from trace");
  for (let n = 0; n < 45; n += 1) await storeTrace(`ordered-${n}`, 1, "'x'");
  const sent = vi.spyOn(pg.Client.prototype, "query");
  await new Response(await exportTraces(userId, {})).text();
  const statements = sent.mock.calls.map(([query], at) => ({
    client: sent.mock.contexts[at],
    text: typeof query === "string" ? query : ((query as { text?: string }).text ?? ""),
  }));
  sent.mockRestore();
  // By connection: this process does other work in the background.
  const pages = [...Map.groupBy(statements, ({ client }) => client).values()].flatMap((own) =>
    own.flatMap(({ text }, at) => (text.includes("order by activity_at") ? [own[at - 1]?.text] : [])),
  );
  expect(pages).toHaveLength(4); // three, and the first once more for what moved to the top
  for (const before of pages) expect(before).toContain("set local random_page_cost = '1.1'");
});

test("a long value is read by few statements, and is whole in pieces of at most a MiB", async () => {
  const id = await storeTrace("pieces", 1, "repeat('aé', 4000000)", "jsonb_build_object('a', repeat('aé', 1000000))");
  for (const [column, whole, statements] of [
    ["content", "aé".repeat(4_000_000), 5],
    ["metadata", `{"a": "${"aé".repeat(1_000_000)}"}`, 2],
  ] as const) {
    const sent = vi.spyOn(pg.Client.prototype, "query");
    const pieces: string[] = [];
    for await (const piece of readPieces(userId, id, 1, column)) pieces.push(piece);
    const byClient = [...Map.groupBy(sent.mock.contexts, (client) => client).values()].map(({ length }) => length);
    expect(Math.max(...byClient)).toBe(statements); // others are of what this process does in the background
    sent.mockRestore();
    expect(pieces.join("") === whole).toBe(true); // not `toBe`: the difference of two such texts takes minutes
    expect(Math.max(...pieces.map((piece) => Buffer.byteLength(piece)))).toBeLessThanOrEqual(MiB + 1);
  }
});

test("messages of a deleted trace are read nowhere, though they are not purged yet", async () => {
  const id = await storeTrace("deleted", 3, "'x'");
  const read = async () => [
    (await readMessages(userId, id, -1, { limit: 9 })).messages.length,
    (await readEarlier(userId, id, 9, { limit: 9 })).messages.length,
    (await readMessagesAt(userId, id, [1, 2, 3])).length,
    (await findInMessages(userId, id, "x")).total,
    (await readExcerpts(userId, [id], parseQuery("x"))).size,
  ];
  expect(await read()).toEqual([3, 3, 3, 3, 1]);
  await pool().query("update trace set deleted_at = now() where id = $1", [id]);
  expect(await read()).toEqual([0, 0, 0, 0, 0]);
});

test("of a message that is too large for a page's reader only the start is read, and it says so", async () => {
  const id = await storeTrace("large", 3, "repeat('x', 100 * p * p)", `jsonb_build_object('a', p)`);
  const bounds = { limit: 9, maxMessageBytes: 600 };
  for (const { messages } of [await readMessages(userId, id, -1, bounds), await readEarlier(userId, id, 9, bounds)]) {
    expect(messages.map(({ metadata }) => metadata)).toEqual([{ a: 1 }, { a: 2 }, null]);
    expect(messages[1]?.content).toBe("x".repeat(400));
    expect(messages[2]?.content).toMatch(/^x{900}\n\n\[The rest of this message is too long/);
  }
  expect((await readMessages(userId, id, -1, { limit: 9 })).messages[2]?.content).toBe("x".repeat(900));
  const huge = await storeTrace("huge", 1, `repeat('y', ${9 * MiB})`);
  const [start] = await readMessagesAt(userId, huge, [1]);
  expect(start?.content.length).toBeLessThan(1_001_000);
});

test("a page of the list ends at two megabytes of metadata, and its pages have every trace once", async () => {
  await pool().query(
    `insert into trace (user_id, id, source, source_id, message_count, token_count, content_hash, upload_sequence, activity_at,
       metadata)
     select $1, gen_random_uuid(), 'long-metadata', n, 0, 0, '', 1, now(), jsonb_build_object('text', repeat('x', 250000))
     from generate_series(1, 20) n`,
    [userId],
  );
  const pages: string[][] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await listTraces(userId, { source: "long-metadata" }, { cursor, limit: 200 });
    pages.push(page.traces.map(({ sourceId }) => sourceId));
    cursor = page.nextCursor;
  }
  expect(pages.map(({ length }) => length)).toEqual([9, 9, 2]);
  expect(new Set(pages.flat()).size).toBe(20);
});
