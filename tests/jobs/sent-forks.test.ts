import { rm } from "node:fs/promises";
import { expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { deleteTrace } from "#lib/traces/deletion";
import { makeCodexFamily, outputOf } from "../cli/codex-families.ts";
import { linesOf, makeHome, writeBelow } from "../cli/home.ts";
import { runInProcess } from "../cli/in-process.ts";
import { longTest } from "../support/long.ts";
import { makeRandom } from "../support/random.ts";
import { provideOwner } from "../support/server.ts";
import { serveIngest } from "./ingest-server.ts";
import { expectSums } from "./ledger-sums.ts";
import { clearTraces } from "./searching.ts";

const { userId } = await provideOwner();
const url = await serveIngest(userId);

async function push(home: string): Promise<void> {
  const words = ["push", "--json", "--no-telemetry"];
  const { code, errors } = await runInProcess(words, home, { SPOOR_URL: url, SPOOR_TOKEN: "spoor_test" });
  expect([code, errors]).toEqual([0, expect.not.stringContaining("Kept as stored")]);
}

async function countTokens(): Promise<number> {
  await accountTraces(30);
  const { rows } = await pool().query("select sum(output_tokens)::int as tokens from trace where deleted_at is null");
  return Number(rows[0]?.tokens);
}

async function clear(homes: string[]): Promise<void> {
  for (const home of homes) await rm(home, { recursive: true });
  await clearTraces();
  for (const table of ["trace_usage", "message_usage", "usage_day", "usage_facets", "ingest_job", "upload"])
    await pool().query(`delete from ${table}`);
}

/** Sends the rollouts of a family from two machines in any order; some were cleaned away before, and one is deleted afterwards. */
async function sendCodexFamily(seed: number): Promise<void> {
  const random = makeRandom(seed + 77);
  const family = makeCodexFamily(seed);
  const homes = [(await makeHome()).home, (await makeHome()).home];
  const placed = [...family.files].map(([path, lines]) => ({ path, lines, order: random() }));
  const left = placed.toSorted((one, other) => one.order - other.order).slice(random() < 0.6 ? 1 : 0);
  const sent: string[] = [];
  for (const { path, lines } of left) {
    const home = homes[random() < 0.5 ? 0 : 1] ?? "";
    await writeBelow(home, path, linesOf(...lines));
    await push(home);
    sent.push(path);
    if (random() < 0.5) expect(await countTokens(), `family ${seed}, in part`).toBe(outputOf(family, sent));
  }
  expect(await countTokens(), `family ${seed}`).toBe(outputOf(family, sent));
  const [gone = "", ...others] = sent;
  const [, id] = /-([0-9a-f]{8}-[-0-9a-f]{27})\.jsonl$/.exec(gone) ?? [];
  const { rows } = await pool().query("select id from trace where source_id = $1", [id]);
  await deleteTrace(userId, rows[0]?.id, operator);
  expect(await countTokens(), `family ${seed}, one deleted on the server`).toBe(outputOf(family, others));
  await expectSums();
  await clear(homes);
}

async function sendCodexFamilies(from: number, to: number): Promise<void> {
  for (let seed = from; seed < to; seed++) await sendCodexFamily(seed);
}

test("every token of a random family of Codex' rollouts counts once on the server, also where a parent was cleaned away", () =>
  sendCodexFamilies(0, 6));

longTest("every token of 1,000 random families of Codex' rollouts counts once", { timeout: 3_600_000 }, () =>
  sendCodexFamilies(6, 1006),
);
