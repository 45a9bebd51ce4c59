// One process fetches PRICES_URL once a day; the copy in the database gives all processes the same prices.
import "server-only";
import { z } from "zod";
import { env } from "#lib/core/env";
import { log } from "#lib/core/log";
import { prisma } from "#lib/db/client";
import { applyPriceList, fetchText, type PriceList, parsePriceList } from "#lib/prices/list";
import { isWithin, takeHour } from "#server/background/steps";

const keys = { copy: "price_list", tried: "price_list_tried" };
const dayMs = 86_400_000;

const stored = z.object({ url: z.string(), fetchedAt: z.string(), list: z.string() });

function readCopy(value: string | undefined, url: string): z.output<typeof stored> | undefined {
  const copy = value === undefined ? undefined : stored.parse(JSON.parse(value));
  return copy?.url === url ? copy : undefined;
}

/** A bad answer changes nothing. */
export async function refreshPriceList(): Promise<void> {
  const url = env().PRICES_URL;
  if (url === undefined) return;
  const row = await prisma().serverSetting.findUnique({ where: { key: keys.copy } });
  const last = readCopy(row?.value, url);
  if (last && isWithin(new Date(last.fetchedAt), dayMs)) return;
  if (!(await takeHour(keys.tried))) return;
  let list: PriceList;
  try {
    list = parsePriceList(await fetchText(url));
  } catch (error) {
    log.warn({ err: error }, "the price list could not be fetched from PRICES_URL; the prices do not change");
    return;
  }
  const value = JSON.stringify({ url, fetchedAt: new Date().toISOString(), list: JSON.stringify(list) });
  await prisma().serverSetting.upsert({
    where: { key: keys.copy },
    create: { key: keys.copy, value },
    update: { value },
  });
  log.info({ providers: list.length }, "the price list was fetched from PRICES_URL");
}

let taken: number | undefined;

/** Applies the stored copy if it is new. */
export async function takePriceList(): Promise<void> {
  const url = env().PRICES_URL;
  if (url === undefined) return;
  const where = { key: keys.copy };
  const seen = await prisma().serverSetting.findUnique({ where, select: { updatedAt: true } });
  if (seen === null || seen.updatedAt.getTime() === taken) return;
  const row = await prisma().serverSetting.findUniqueOrThrow({ where });
  const copy = readCopy(row.value, url);
  if (!copy) return;
  applyPriceList(parsePriceList(copy.list), `genai-prices, fetched ${copy.fetchedAt.slice(0, 10)}`);
  taken = row.updatedAt.getTime();
}
