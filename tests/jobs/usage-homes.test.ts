import { expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { adapters } from "../../cli/adapters/registry.ts";
import { makeHome, parseAll } from "../cli/home.ts";
import { makeWorld, writeWorld } from "../proof/random/homes.ts";
import { differences } from "../proof/random/world.ts";
import { add, keyOf, type Sums } from "../proof/sums.ts";
import { longTest } from "../support/long.ts";
import { provideOwner } from "../support/server.ts";
import { uploadsOf } from "./uploads.ts";

const { userId } = await provideOwner();

/** The ledger's sums of some sessions, by agent, model and day. */
async function ledgerSums(sourceIds: string[]): Promise<Sums> {
  const { rows } = await pool().query(
    `select t.source, u.model, to_char(u.at at time zone 'UTC', 'YYYY-MM-DD') as day, u.input_tokens::int as input,
       u.output_tokens::int as output, u.cache_read_tokens::int as read,
       (u.cache_write_5m_tokens + u.cache_write_1h_tokens)::int as written
     from message_usage u join trace t on t.user_id = u.user_id and t.id = u.trace_id
     where u.user_id = $1 and u.counted and t.source_id = any($2)`,
    [userId, sourceIds],
  );
  const sums: Sums = new Map();
  for (const { source, model, day, input, output, read, written } of rows) {
    add(sums, keyOf(source, model ?? "", day), {
      input,
      output,
      cacheRead: read,
      cacheWrite: written,
      nano: undefined,
    });
  }
  return sums;
}

/** Sends a home's sessions. @returns how the ledger's sums of them differ from the truth */
async function sendHome(seed: number): Promise<string[]> {
  const world = makeWorld(seed);
  const host = await makeHome();
  await writeWorld(world, host.home);
  const traces = [];
  for (const adapter of adapters) {
    for (const { source, sourceId, messages, ending } of (await parseAll(adapter, host)).sessions) {
      traces.push({ ...ending, source, sourceId, messages: messages.map((one, position) => ({ position, ...one })) });
    }
  }
  await uploadsOf(userId).send(...traces);
  await accountTraces(60);
  return differences(await ledgerSums(traces.map(({ sourceId }) => sourceId)), world.truth);
}

test("the ledger counts every token of a random home once", async () => {
  for (const seed of [25, 28, 30]) expect([seed, await sendHome(seed)]).toEqual([seed, []]);
});

longTest("so it does those of 100 random homes", { timeout: 900_000 }, async () => {
  for (let seed = 3000; seed < 3100; seed++) expect([seed, await sendHome(seed)]).toEqual([seed, []]);
});
