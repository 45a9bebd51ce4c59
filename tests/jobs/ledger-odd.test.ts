import { expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { readExcerpts } from "#lib/search/excerpts";
import { parseQuery } from "#lib/search/query";
import { deleteTrace } from "#lib/traces/deletion";
import { readContext } from "#lib/traces/sql/context";
import { answerUsage } from "#lib/usage/answer";
import { usageQuery } from "#lib/usage/schema";
import { readSegment } from "../../app/(app)/traces/[id]/segments/read.ts";
import { provideOwner } from "../support/server.ts";
import { expectSameAnew, expectSums } from "./ledger-sums.ts";
import { indexAll } from "./searching.ts";
import { uploadsOf } from "./uploads.ts";

const { userId } = await provideOwner();
const { send, stored } = uploadsOf(userId);

type Random = (below: number) => number;

/** Numbers from 0 up to `below`, the same for a seed (mulberry32). */
function randomOf(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const odd = [-5, 2 ** 53, 1.5, "12", null, [], {}, true, 1e300, -0.1, 0];

/** Mostly a count, sometimes what is none. */
const count = (random: Random): unknown => (random(6) === 0 ? odd[random(odd.length)] : random(2000));

const models = ["claude-opus-4-5", "gpt-5.2-codex", "nobody-knows-1", "claude-haiku-4-5", 7];

/** What a message may say that it used, as the vocabulary has it and as agents write it themselves; lines of a request are near. */
const forms: ((random: Random, near: number) => Record<string, unknown>)[] = [
  (random, near) => ({
    usage: {
      ...{ inputTokens: count(random), outputTokens: count(random), cacheReadTokens: count(random) },
      ...(random(2) === 0 && { cacheWriteTokens: count(random), cacheWrite1hTokens: count(random) }),
      ...(random(2) === 0 && { reasoningTokens: count(random) }),
    },
    ...(random(3) > 0 && { requestId: `r${near - random(2)}` }),
    ...(random(4) === 0 && { costUsd: [0.25, -1, "3", 1e300, 0.000000001][random(5)] }),
  }),
  (random, near) => ({
    requestId: `c${near}`,
    message: {
      ...{ id: `msg_${near - random(2)}`, model: models[random(models.length)] },
      usage: {
        ...{ input_tokens: 100, output_tokens: count(random), cache_read_input_tokens: 1000 },
        cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: count(random) },
      },
    },
  }),
  (random) => ({
    usage: {
      prompt_tokens: count(random),
      completion_tokens: count(random),
      prompt_tokens_details: odd[random(odd.length)],
    },
  }),
  (random) => ({ usage: { outputTokens: random(50) } }),
  (random) => ({ usage: odd[random(odd.length)], requestId: odd[random(odd.length)] }),
  () => ({ usage: { inputTokens: 900, outputTokens: 90 }, requestId: "replayed", replayed: true }),
  () => ({}),
];

function messageOf(random: Random, position: number) {
  const form = forms[random(forms.length)];
  // Later messages have later times, or none.
  const at = new Date(Date.UTC(2026, 9, 1, position * 5, random(60)));
  return {
    position,
    content: `m${position}`,
    role: random(6) === 0 ? "user" : "assistant",
    ...(random(3) > 0 && { tokenCount: random(100) }),
    ...(random(4) > 0 && { createdAt: at.toISOString() }),
    metadata: {
      ...form?.(random, Math.floor(position / 4)),
      ...(random(5) === 0 && { model: models[random(models.length)] }),
      ...(random(6) === 0 && { branch: `b${random(3)}` }),
    },
  };
}

const sourceOf = (name: number) => ["claude-code", "codex", "cursor"][name % 3];

const exactly = async () => {
  const { rows } = await pool().query(
    `select coalesce(sum(input_tokens), 0)::text as input, coalesce(sum(output_tokens), 0)::text as output,
       coalesce(sum(cache_read_tokens), 0)::text as read, coalesce(sum(cost_nano), 0)::text as cost
     from message_usage where counted`,
  );
  return rows[0];
};
const asTold = async (zone: string) => {
  const query = usageQuery.parse({ from: "2026-09-25", to: "2027-12-31", unit: "month", zone });
  const { total } = await answerUsage(userId, query);
  return {
    input: String(total.inputTokens),
    output: String(total.outputTokens),
    read: String(total.cacheReadTokens),
    cost: String(total.costNano),
  };
};

test.each([1, 2, 3])("odd usage is summed alike in all places, however sessions grow and go (%i)", async (seed) => {
  const random = randomOf(seed);
  const sessions = new Map<number, ReturnType<typeof messageOf>[]>();
  const whole = (name: number, more: Record<string, unknown> = {}) => ({
    ...{ source: sourceOf(name), sourceId: `s${seed}-${name}`, model: models[random(4)] },
    createdAt: `2026-10-0${1 + (name % 9)}T00:00:00Z`,
    messages: sessions.get(name),
    ...(random(5) === 0 && { usage: { inputTokens: count(random), outputTokens: count(random) } }),
    ...more,
  });
  for (let step = 0; step < 40; step += 1) {
    const name = random(6);
    const known = sessions.get(name) ?? [];
    const fresh = (from: number, length: number) => Array.from({ length }, (_, n) => messageOf(random, from + n));
    switch (random(6)) {
      case 0: {
        const id = (await stored(`s${seed}-${name}`))?.id;
        if (id) await deleteTrace(userId, id, operator);
        break;
      }
      case 1: {
        const other = sessions.get(random(6)) ?? [];
        sessions.set(name, [...other, ...fresh(other.length, random(4))]);
        await send(whole(name, { replace: true }));
        break;
      }
      case 2:
        sessions.set(name, [...known.slice(0, -1), ...fresh(Math.max(0, known.length - 1), 3)]);
        await send(whole(name));
        break;
      case 3:
        if (known.length > 0) {
          const messages = fresh(known.length, 2);
          sessions.set(name, [...known, ...messages]);
          await send(whole(name, { append: { count: known.length }, messages }));
        }
        break;
      default:
        sessions.set(name, [...known, ...fresh(known.length, 1 + random(4))]);
        await send(whole(name));
    }
    await accountTraces(30);
    if (step % 5 === 4) {
      await expectSums();
      expect(await asTold(["UTC", "Pacific/Auckland", "America/Los_Angeles"][step % 3] ?? "UTC")).toEqual(
        await exactly(),
      );
    }
  }
  await expectSameAnew();
});

test("a message with as many tokens as can be is counted everywhere", async () => {
  const usage = { inputTokens: 2 ** 53, outputTokens: 2 ** 53, cacheReadTokens: 2 ** 53, cacheWriteTokens: 2 ** 53 };
  const message = {
    position: 0,
    content: "x",
    role: "assistant",
    createdAt: "2026-10-05T11:30:00Z",
    metadata: { usage },
  };
  await send({ source: "pi", sourceId: "most", model: "nobody-knows-1", messages: [message] });
  await accountTraces(30);
  await expectSums();
  const most = 2_147_483_647;
  const found = await stored("most");
  expect(found?.usage).toMatchObject({ inputTokens: most, unpricedTokens: 4 * most });
  expect(await readContext(userId, found?.id ?? "")).toEqual([{ position: 0, tokens: 3 * most }]);
  // The day is shared by two spans, so that the message itself is read.
  const query = usageQuery.parse({ from: "2026-10-05", to: "2026-10-07", zone: "Pacific/Auckland", source: "pi" });
  expect((await answerUsage(userId, query)).total).toMatchObject({ outputTokens: most, unpricedTokens: 4 * most });
});

test("a message at the highest position is counted, shown and found, also when its session grows before it", async () => {
  const at = (position: number) => ({
    ...{ position, content: `it says elderberry ${position}`, role: "assistant", createdAt: "2026-10-05T11:30:00Z" },
    metadata: { usage: { inputTokens: 7, outputTokens: 1 } },
  });
  const most = 2_147_483_647;
  for (const positions of [[most], [5, most]]) {
    await send({ source: "pi", sourceId: "last", model: "nobody-knows-1", messages: positions.map(at) });
    await accountTraces(30);
    await expectSums();
    const found = await stored("last");
    expect(found?.usage).toMatchObject({ inputTokens: 7 * positions.length });
    const id = found?.id ?? "";
    expect(await readSegment(userId, id, { after: most }, false)).toBeUndefined();
    expect((await readSegment(userId, id, { at: most }, false))?.messages.at(-1)).toMatchObject({ position: most });
    await indexAll();
    const excerpts = await readExcerpts(userId, [id], parseQuery("elderberry"));
    expect(excerpts.get(id)?.excerpts.map(({ position }) => position)).toEqual(positions);
  }
  expect((await pool().query("select 1 from trace where ledger_due")).rowCount).toBe(0);
});
