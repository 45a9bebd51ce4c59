import { expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { provideOwner } from "../support/server.ts";
import { getUploads } from "./uploads.ts";

const { userId } = await provideOwner();
const { send, stored } = getUploads(userId);

const answer = (position: number, metadata: Record<string, unknown>) => ({
  position,
  role: "assistant",
  content: `answer ${position}`,
  createdAt: `2026-10-01T10:0${position}:00Z`,
  metadata,
});
/** So many tokens, at 3 dollars a million, and 6 in a request of more than 200,000. */
const input = (inputTokens: number) => ({ inputTokens, outputTokens: 0 });
const model = "claude-sonnet-4-5";

/** In dollars. */
async function readCost(sourceId: string, ...messages: unknown[]) {
  await send({ source: "claude-code", sourceId, model, messages });
  await accountTraces(10);
  return Number((await stored(sourceId))?.costNano) / 1e9;
}

test("each request of an answer is priced by its own context", async () => {
  const requests = (...sizes: number[]) => ({ requestId: `r${sizes}`, requests: sizes.map(input) });
  const whole = input(400_000);
  expect(await readCost("one", answer(0, { usage: whole }))).toBe(2.4);
  expect(await readCost("two", answer(0, { usage: whole, ...requests(200_000, 200_000) }))).toBe(1.2);
  expect(await readCost("mixed", answer(0, { usage: whole, ...requests(150_000, 250_000) }))).toBe(0.45 + 1.5);
  // Told by a later line of the answer, and not adding up to it.
  expect(await readCost("later", answer(0, { usage: whole, requestId: "l" }), answer(1, requests(2)))).toBe(2.4);
  expect(await readCost("odd", answer(0, { usage: whole, ...requests(100_000, 150_000) }))).toBe(1.2);
  const raw = [200_000, 200_000].map((input_tokens) => ({ type: "message", input_tokens, output_tokens: 0 }));
  const usage = { input_tokens: 400_000, output_tokens: 0, iterations: raw };
  expect(await readCost("raw", answer(0, { message: { id: "m", model, usage } }))).toBe(1.2);
});

test("what another model used for an answer is that model's, and the answer goes on as its own model's", async () => {
  const cost = await readCost(
    "advised",
    answer(0, { model, requestId: "a", usage: input(1000) }),
    {
      ...answer(1, { model: "claude-opus-5", requestId: "a", usage: input(2000), result: { callId: "s" } }),
      role: "tool",
    },
    answer(2, { model, usage: { outputTokens: 100 } }),
  );
  expect(cost).toBe(0.003 + 0.01 + 0.0015);
  const { rows } = await pool().query(
    `select model, sum(input_tokens)::int as input, sum(output_tokens)::int as output from message_usage
     where trace_id = $1 group by model order by model`,
    [(await stored("advised"))?.id],
  );
  expect(rows).toEqual([
    { model: "claude-opus-5", input: 2000, output: 0 },
    { model, input: 1000, output: 100 },
  ]);
});
