import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { pool, transaction } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { packQuiet } from "#lib/packs/pack";
import { readExcerpts } from "#lib/search/excerpts";
import { parseQuery } from "#lib/search/query";
import { findInMessages } from "#lib/traces/find";
import { readEarlier, readMessages, readMessagesAt } from "#lib/traces/messages";
import { jsonOf, readParts } from "#lib/traces/parts";
import { countMessages } from "#lib/traces/stored";
import { isLong } from "../support/long.ts";
import { provideOwner } from "../support/server.ts";
import { beQuiet, count, idOf, pack } from "./packing.ts";
import { clearTraces, indexAll, searchSourceIds } from "./searching.ts";
import { messages, uploadsOf } from "./uploads.ts";

const { userId } = await provideOwner();
const { send, stored } = uploadsOf(userId);
afterEach(clearTraces);

const long = `${"The ferry over the Øresund ".repeat(20_000)}leaves at noon`;
/** Every form that a message can have, in several packs. */
const odd = {
  sourceId: "odd",
  source: "claude-code",
  title: "Odd forms",
  messages: [
    { position: 0, content: "Straße ÉTÉ naïve 日本語 😀 e\u0301 \ufffd", role: "user", tokenCount: 7 },
    { position: 3, content: "" },
    {
      position: 4,
      content: "line\r\n\ttab \\ \"quote\" 'one' {brace}",
      role: "assistant",
      createdAt: "2026-03-01T10:00:00.123Z",
    },
    {
      position: 10,
      content: "with metadata",
      role: "tool",
      metadata: { a: [1, 1.5, null, "é"], deep: { b: { c: "\\n" } }, "": "" },
    },
    { position: 11, content: "small", role: "assistant", metadata: { output: "deploy the gangway now ".repeat(2000) } },
    { position: 12, content: long, role: "user", metadata: { kind: "prompt" } },
    ...Array.from({ length: 300 }, (_, n) => ({
      position: 20 + 2 * n,
      content: `message ${n} about ${n % 7 === 0 ? "gangway repairs" : "ordinary things"} ${"word ".repeat(200)}`,
      role: n % 2 === 0 ? "user" : "assistant",
      tokenCount: n,
      createdAt: new Date(Date.UTC(2026, 2, 1, 12, 0, n)).toISOString(),
    })),
    { position: 2_147_483_647, content: "the last possible place", role: "assistant" },
  ],
};

/** All that can be read of a trace's messages. */
async function readAll(traceId: string) {
  const pages: unknown[] = [];
  for (const bounds of [
    { limit: 50 },
    { limit: 1000, maxBytes: 100_000 },
    { limit: 5000, maxMessageBytes: 1_000_000 },
  ]) {
    for (let after: number | null = -1; after !== null; ) {
      const page: Awaited<ReturnType<typeof readMessages>> = await readMessages(userId, traceId, after, bounds);
      pages.push(page.messages, page.nextAfter);
      after = page.nextAfter;
    }
  }
  for (const before of [0, 4, 21, 300, 2_147_483_647])
    pages.push(
      await readEarlier(userId, traceId, before, { limit: 3 }),
      await readEarlier(userId, traceId, before, { limit: 400, maxBytes: 3000 }),
    );
  const exported: string[] = [];
  for await (const part of readParts(userId, traceId))
    for await (const piece of jsonOf(userId, traceId, part, (message) => message)) exported.push(piece);
  const texts = ["gangway", "straße", "été", "日本", "\\n", '"c": "', "noon", "absent words", "e"];
  const found: Awaited<ReturnType<typeof findInMessages>>[] = [];
  for (const text of texts) found.push(await findInMessages(userId, traceId, text));
  return {
    pages,
    exported: exported.join(""),
    at: await readMessagesAt(userId, traceId, [0, 12, 22, 23, 400, 2_147_483_647]),
    counts: await Promise.all(
      [{ before: 0 }, { before: 11 }, { before: 401 }, { after: 11 }, { after: 401 }, { after: 2_147_483_647 }].map(
        (range) => countMessages(userId, traceId, range),
      ),
    ),
    found,
    searched: await readSearches(),
  };
}

const queries = [
  "gangway",
  '"gangway repairs message"',
  '"leaves at noon"',
  "naïve",
  "role:assistant ordinary",
  '"no such phrase here"',
  "gang*",
];
const readSearches = async () =>
  Promise.all(
    queries.map(async (q) => [
      q,
      await searchSourceIds(userId, q),
      [...(await readExcerpts(userId, [await idOf("odd")], parseQuery(q)))].map(([, excerpts]) => excerpts),
    ]),
  );

describe("a packed session", () => {
  test("is read as before, by every reader", { timeout: 120_000 }, async () => {
    await send(odd, { sourceId: "other", messages: messages("gangway of another ship") });
    await accountTraces(100);
    await indexAll();
    const id = await idOf("odd");
    const before = await readAll(id);
    expect(before.counts).toEqual([0, 4, 197, 302, 110, 0]);
    expect(before.found.map(({ messages }) => messages)).toEqual([44, 1, 1, 1, 1, 1, 1, 0, expect.any(Number)]);

    expect(await pack()).toBe(2);
    expect(await count("message")).toBe(0);
    expect(await count("message_pack")).toBeGreaterThan(3);
    const after = await readAll(id);
    expect(after).toEqual(before);
    expect(await packQuiet(10)).toBe(0);
  });

  test("is indexed and accounted for anew without being unpacked", { timeout: 60_000 }, async () => {
    const usage = (n: number) => ({
      usage: { input: n, output: 2 * n },
      model: "claude-opus-4-5",
      ...(n === 3 && { result: { session: "child" } }),
    });
    const busy = {
      sourceId: "busy",
      source: "claude-code",
      model: "claude-opus-4-5",
      messages: Array.from({ length: 40 }, (_, n) => ({
        ...{ position: n, content: `step ${n} of the voyage`, role: "assistant", tokenCount: n, metadata: usage(n) },
        ...(n % 3 === 0 && { createdAt: new Date(Date.UTC(2026, 2, 1 + (n % 2), 12, n)).toISOString() }),
      })),
    };
    await send(busy, {
      sourceId: "child",
      source: "claude-code",
      messages: messages("a child of the voyage"),
      metadata: { parent: { sourceId: "busy" } },
    });
    await pack();
    await pool().query("update trace set ledger_due = true, accounted_version = 0");
    await accountTraces(100); // a message without a time is none after its session was stored
    const derived = async () => {
      const tables = ["trace_usage", "message_usage", "trace_digest", "usage_day"];
      const rows = await Promise.all(
        tables.map((name) => pool().query(`select to_jsonb(t) as row from ${name} t order by 1`)),
      );
      const { rows: traces } = await pool().query(
        "select source_id, input_tokens, output_tokens, cost_nano, turn_count, parent_id, parent_position, active_seconds, spark from trace order by 1",
      );
      return { rows: rows.map(({ rows }) => rows), traces };
    };
    const before = await derived();
    expect(before.rows[0]?.length).toBeGreaterThan(1);
    expect(before.rows[1]?.length).toBeGreaterThanOrEqual(39);
    expect(await count("message")).toBe(0);

    await pool().query("update trace set ledger_due = true, accounted_version = 0, search_pending = true");
    await pool().query("delete from search_block");
    await accountTraces(100);
    expect(await derived()).toEqual(before);
    await pool().query("update trace set ledger_due = true");
    await accountTraces(100);
    expect(await derived()).toEqual(before);
    await indexAll();
    expect(await searchSourceIds(userId, "voyage")).toEqual(["busy", "child"]);
    expect(await searchSourceIds(userId, '"step 17 of the voyage"')).toEqual(["busy"]);
    expect(await count("message")).toBe(0);
  });
});

describe("an upload of a packed session", () => {
  const ship = (...contents: string[]) => ({ sourceId: "ship", messages: messages(...contents) });
  const hasMark = async () => {
    const { rows } = await pool().query("select packed_at from trace where source_id = 'ship'");
    return rows[0].packed_at !== null;
  };

  test("that has nothing new leaves it packed", async () => {
    await send(ship("one", "two"));
    await pack();
    const job = await send(ship("one", "two"));
    expect(job).toMatchObject({ traces: { unchanged: 1 } });
    expect([await count("message"), await hasMark()]).toEqual([0, true]);
    expect((await stored("ship"))?.contents).toEqual(["one", "two"]);
  });

  test("that appends to what is not stored leaves it packed", async () => {
    await send(ship("one", "two"));
    await pack();
    const late = { sourceId: "ship", append: { count: 5 }, messages: [{ position: 5, content: "six", role: "user" }] };
    expect(await send(late)).toMatchObject({ traces: { incomplete: 1 } });
    expect([await count("message"), await hasMark()]).toEqual([0, true]);
  });

  const cases: [string, object, string[]][] = [
    ["grows it", ship("one", "two", "three"), ["one", "two", "three"]],
    ["changes a message", ship("one", "changed", "three"), ["one", "changed", "three"]],
    ["replaces it with less", { ...ship("only"), replace: true }, ["only"]],
    [
      "appends",
      { sourceId: "ship", append: { count: 2 }, messages: [{ position: 2, content: "three", role: "user" }] },
      ["one", "two", "three"],
    ],
    ["renames it", { ...ship("one", "two"), title: "Another" }, ["one", "two"]],
  ];
  test.each(cases)("that %s makes rows of it, which are packed again later", async (_, upload, contents) => {
    await send(ship("one", "two"));
    await pack();
    await send(upload);
    expect((await stored("ship"))?.contents).toEqual(contents);
    expect([await count("message"), await count("message_pack"), await hasMark()]).toEqual([contents.length, 0, false]);
    expect(await packQuiet(10)).toBe(0); // not quiet
    expect(await pack()).toBe(1);
    expect((await stored("ship"))?.contents).toEqual(contents);
    expect([await count("message"), await count("message_pack"), await hasMark()]).toEqual([0, 1, true]);
  });

  test("at the same time as the packing loses nothing", { timeout: 60_000 }, async () => {
    const rounds = isLong ? 40 : 12;
    const contents = ["zero"];
    await send(ship(...contents));
    const packing = { ends: false, packed: 0 };
    const packer = (async () => {
      while (!packing.ends) {
        await pool().query(
          "update trace set ledger_due = false, search_pending = false, stored_at = now() - interval '8 days'",
        );
        packing.packed += await packQuiet(5);
      }
    })();
    try {
      for (let n = 1; n <= (packing.packed > 5 ? rounds : 200); n += 1) {
        contents.push(`message ${n}`);
        await send(ship(...contents));
        const read = await stored("ship");
        expect(read?.contents).toEqual(contents);
        await sleep(5);
      }
    } finally {
      packing.ends = true;
      await packer;
    }
    expect(packing.packed).toBeGreaterThan(5);
    expect((await stored("ship"))?.contents).toEqual(contents);
  });

  test("waits for the packer, and the packer for nobody", async () => {
    await send(ship("one"));
    await accountTraces(100);
    await indexAll();
    await beQuiet();
    await transaction(async (tx) => {
      await tx.query("select from trace where source_id = 'ship' for update");
      expect(await packQuiet(10)).toBe(0);
    });
    expect(await packQuiet(10)).toBe(1);
  });
});
