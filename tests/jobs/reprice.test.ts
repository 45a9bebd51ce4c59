import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { setEnv } from "#lib/core/env";
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { countOutdated, requestReaccounting } from "#lib/ledger/version";
import { forgetOwnPrices } from "#lib/prices/own";
import { answerUsage } from "#lib/usage/answer";
import { usageQuery } from "#lib/usage/schema";
import { testEnvironment } from "../support/database.ts";
import { provideOwner } from "../support/server.ts";
import { expectSameAnew, expectSums } from "./ledger-sums.ts";
import { getUploads } from "./uploads.ts";

const { userId } = await provideOwner();
const { send, stored } = getUploads(userId);
const path = join(mkdtempSync(join(tmpdir(), "spoor-prices-")), "prices.json");

const priceBy = (file: unknown) => {
  writeFileSync(path, JSON.stringify(file));
  setEnv({ PRICES_FILE: path });
  forgetOwnPrices();
};
afterAll(() => {
  setEnv({ ...testEnvironment, PRICES_FILE: undefined });
  forgetOwnPrices();
});

const answer = (position: number, day: number, model: string) => ({
  position,
  role: "assistant",
  content: "x",
  createdAt: `2026-10-0${day}T10:00:00Z`,
  metadata: { model, requestId: `r${day}`, usage: { inputTokens: 1000, outputTokens: 100 }, costUsd: 0.5 },
});
const session = (sourceId: string, model: string) => ({
  source: "claude-code",
  sourceId,
  createdAt: "2026-10-01T00:00:00Z",
  messages: [answer(0, 1, model), answer(1, 5, model)],
});
const spent = async () => {
  const { total } = await answerUsage(
    userId,
    usageQuery.parse({ from: "2026-10-01", to: "2026-10-09", unit: "total" }),
  );
  return [total.costNano, total.unpricedTokens, total.recordedNano];
};

test("new prices count from their day on, of what is stored, and what an agent recorded stays", async () => {
  await send(session("ours", "our-model"));
  await accountTraces(30);
  expect(await spent()).toEqual([0, 2200, 1_000_000_000]);
  // 2 euros are a dollar.
  priceBy({
    currency: { code: "EUR", perDollar: 2 },
    prices: [
      { model: "our-model", currency: "EUR", input: 4, output: 20 },
      { model: "our-*", from: "2026-10-03", input: 3, output: 3 },
      { model: "our-model", from: "2026-10-03", input: 1, output: 10 },
    ],
  });
  expect(await spent()).toEqual([0, 2200, 1_000_000_000]);
  await requestReaccounting();
  expect(await countOutdated()).toEqual({ outdated: 1, all: 1 });
  await accountTraces(30);
  expect(await countOutdated()).toEqual({ outdated: 0, all: 1 });
  expect(await spent()).toEqual([2_000_000 + 1_000_000 + 1_000_000 + 1_000_000, 0, 1_000_000_000]);
  expect(await stored("ours")).toMatchObject({ costNano: 5_000_000, recordedNano: 1_000_000_000 });
  await expectSums();
});

test("interrupted, it goes on; answers that are in several sessions are priced once", async () => {
  await send(...Array.from({ length: 12 }, (_, n) => session(`copy-${n}`, "our-model")));
  await accountTraces(30);
  const before = await spent();
  expect(before[0]).toBe(5_000_000);
  priceBy({ prices: [{ model: "our-model", input: 2, output: 2 }] });
  await requestReaccounting();
  // A run ends before it is through: the marks of the others stay.
  await pool().query("update trace set stored_at = now() + interval '1 hour' where source_id < 'copy-5'");
  await accountTraces(30, 1);
  expect((await countOutdated()).outdated).toBeGreaterThan(0);
  await pool().query("update trace set stored_at = now() - interval '1 hour'");
  await accountTraces(30);
  expect(await countOutdated()).toEqual({ outdated: 0, all: 13 });
  expect(await spent()).toEqual([4_400_000, 0, 1_000_000_000]);
  await expectSums();
  await expectSameAnew();
});
