import { expect } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { deleteTrace } from "#lib/traces/deletion";
import { answerUsage } from "#lib/usage/answer";
import { usageQuery } from "#lib/usage/schema";
import { makeRandom } from "../support/random.ts";
import { expectSameAnew, expectSums } from "./ledger-sums.ts";
import { getUploads } from "./uploads.ts";

type Random = (below: number) => number;

/** Makes a generator of whole numbers from 0 to below a bound, the same ones for the same seed. */
function makeNumbers(seed: number): Random {
  const random = makeRandom(seed);
  return (below) => Math.floor(random() * below);
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

function makeMessage(random: Random, position: number) {
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

const getSource = (name: number) => ["claude-code", "codex", "cursor"][name % 3];

const exactly = async () => {
  const { rows } = await pool().query(
    `select coalesce(sum(input_tokens), 0)::text as input, coalesce(sum(output_tokens), 0)::text as output,
       coalesce(sum(cache_read_tokens), 0)::text as read, coalesce(sum(cost_nano), 0)::text as cost
     from message_usage where counted`,
  );
  return rows[0];
};
const asTold = async (userId: string, zone: string) => {
  const query = usageQuery.parse({ from: "2026-09-25", to: "2027-12-31", unit: "month", zone });
  const { total } = await answerUsage(userId, query);
  return {
    input: String(total.inputTokens),
    output: String(total.outputTokens),
    read: String(total.cacheReadTokens),
    cost: String(total.costNano),
  };
};

/** Sends sessions of odd usage in so many steps, and compares all sums every five. */
export async function expectOddUsage(userId: string, seed: number, steps: number): Promise<void> {
  const { send, stored } = getUploads(userId);
  const random = makeNumbers(seed);
  const sessions = new Map<number, ReturnType<typeof makeMessage>[]>();
  const whole = (name: number, more: Record<string, unknown> = {}) => ({
    ...{ source: getSource(name), sourceId: `s${seed}-${name}`, model: models[random(4)] },
    createdAt: `2026-10-0${1 + (name % 9)}T00:00:00Z`,
    messages: sessions.get(name),
    ...(random(5) === 0 && { usage: { inputTokens: count(random), outputTokens: count(random) } }),
    ...more,
  });
  for (let step = 0; step < steps; step += 1) {
    const name = random(6);
    const known = sessions.get(name) ?? [];
    const fresh = (from: number, length: number) => Array.from({ length }, (_, n) => makeMessage(random, from + n));
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
      expect(await asTold(userId, ["UTC", "Pacific/Auckland", "America/Los_Angeles"][step % 3] ?? "UTC")).toEqual(
        await exactly(),
      );
    }
  }
  await expectSameAnew();
}
