import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { setEnv } from "#lib/core/env";
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { countOutdated, requestReaccounting } from "#lib/ledger/version";
import { forgetOwnPrices } from "#lib/prices/own";
import { makeHome, writeBelow } from "../cli/home.ts";
import { usageHome } from "../proof/home.ts";
import { proved } from "../proof/proved.ts";
import { makeWorld, writeWorld } from "../proof/random/homes.ts";
import { differences } from "../proof/random/world.ts";
import { longTest } from "../support/long.ts";
import { provideOwner } from "../support/server.ts";
import { readSums, sendSessions } from "./sent-home.ts";
import { getUploads } from "./uploads.ts";

const { userId } = await provideOwner();

test("a home's sessions have the tokens and the money in the ledger that were proved with other tools", async () => {
  const host = await makeHome();
  for (const [path, content] of usageHome()) {
    await writeBelow(host.home, path, content);
    await sleep(20); // of two files with the same lines the older one is the original
  }
  await sendSessions(userId, host);
  const sums = [...(await readSums(userId))].map(([key, { input, output, cacheRead, cacheWrite, nano }]) => [
    key,
    [input, output, cacheRead, cacheWrite, nano],
  ]);
  expect(Object.fromEntries(sums)).toEqual(proved);
});

test("after a change of prices all of it is counted anew, by whoever accounts next", async () => {
  const before = await readSums(userId);
  const file = join(await mkdtemp(join(tmpdir(), "prices-")), "prices.json");
  await writeFile(
    file,
    JSON.stringify({
      prices: [
        { model: "*", factor: 2 },
        { model: "qwen3-coder", input: 1, output: 2 },
      ],
    }),
  );
  setEnv({ PRICES_FILE: file });
  forgetOwnPrices();
  const all = (await countOutdated()).all;
  expect(await countOutdated()).toEqual({ outdated: 0, all });
  await requestReaccounting();
  expect(await countOutdated()).toEqual({ outdated: all, all });
  await accountTraces(60);
  expect(await countOutdated()).toEqual({ outdated: 0, all });
  const after = await readSums(userId);
  expect([...after.keys()].sort()).toEqual([...before.keys()].sort());
  for (const [key, { nano, ...tokens }] of after) {
    const { nano: was, ...same } = before.get(key) ?? { nano: undefined };
    expect(tokens).toEqual(same);
    if (key.startsWith("qwen-code"))
      expect(nano).toBe(400n * 1000n + 28n * 2000n); // the cache costs what input does
    else expect(nano).toBe(was === undefined ? undefined : was * 2n);
  }
  setEnv({ PRICES_FILE: undefined });
  forgetOwnPrices();
});

test("what a session tells beyond its messages is one row, made anew as the session grows", async () => {
  const { send } = getUploads(userId);
  const message = (position: number, inputTokens: number) => ({
    position,
    role: "assistant",
    content: "Yes",
    createdAt: `2026-10-0${position + 1}T10:00:00Z`,
    metadata: { usage: { inputTokens, outputTokens: 1 } },
  });
  const rows = async () => {
    await accountTraces(60);
    const { rows } = await pool().query(
      `select u.position, u.input_tokens as input, u.output_tokens as output, to_char(u.at at time zone 'UTC', 'DD') as day,
         t.input_tokens::int as sum
       from message_usage u join trace t on t.user_id = u.user_id and t.id = u.trace_id
       where u.user_id = $1 and t.source_id = 'rest' order by u.position`,
      [userId],
    );
    return rows.map(({ position, input, output, day, sum }) => [position, input, output, day, sum]);
  };
  const trace = { source: "droid", sourceId: "rest", model: "gpt-5" };
  const usage = (inputTokens: number, outputTokens: number) => ({ metadata: { usage: { inputTokens, outputTokens } } });
  await send({ ...trace, ...usage(100, 9), messages: [message(0, 40)] });
  expect(await rows()).toEqual([
    [-1, 60, 8, "01", 100],
    [0, 40, 1, "01", 100],
  ]);
  await send({ ...trace, ...usage(150, 9), messages: [message(0, 40), message(1, 70)] });
  expect(await rows()).toEqual([
    [-1, 40, 7, "02", 150],
    [0, 40, 1, "01", 150],
    [1, 70, 1, "02", 150],
  ]);
  await send({ ...trace, ...usage(110, 2), messages: [message(0, 40), message(1, 70)] });
  expect(await rows()).toEqual([
    [0, 40, 1, "01", 110],
    [1, 70, 1, "02", 110],
  ]);
});

/** Sends a random home. @returns how the ledger's sums of tokens differ from the truth */
async function sendHome(seed: number): Promise<string[]> {
  const world = makeWorld(seed);
  const host = await makeHome();
  await writeWorld(world, host.home);
  const sums = await readSums(userId, await sendSessions(userId, host));
  for (const sum of sums.values()) sum.nano = undefined; // nobody knows the money
  return differences(sums, world.truth);
}

test("the ledger counts every token of a random home once", async () => {
  for (const seed of [25, 28, 30]) expect([seed, await sendHome(seed)]).toEqual([seed, []]);
});

longTest("so it does those of 100 random homes", { timeout: 900_000 }, async () => {
  for (let seed = 3000; seed < 3100; seed++) expect([seed, await sendHome(seed)]).toEqual([seed, []]);
});
