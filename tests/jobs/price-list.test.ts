import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { waitForUpdate } from "@pydantic/genai-prices";
import { afterAll, beforeEach, expect, test } from "vitest";
import { setEnv } from "#lib/core/env";
import { pool } from "#lib/db/client";
import { applyPriceList, fetchText } from "#lib/prices/list";
import { computePrice } from "#lib/prices/price";
import { refreshPriceList, takePriceList } from "#server/background/price-list";
import { provideOwner } from "../support/server.ts";

await provideOwner();
const delivered = (await waitForUpdate()) ?? [];
const keepPriceList = () => refreshPriceList().then(takePriceList);
let requests = 0;
let answer: RequestListener = (_, response) => response.end();
const server = createServer((request, response) => {
  requests += 1;
  answer(request, response);
}).listen(0, "127.0.0.1");
await once(server, "listening");
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/data.json`;

const cost = () =>
  computePrice({
    model: "claude-opus-4-8",
    source: "claude-code",
    at: new Date("2026-11-01"),
    usage: { inputTokens: 1 },
  });

/** The delivered list with another price of claude-opus-4-8. */
function listWith(dollars: number): string {
  const list = structuredClone(delivered);
  const opus = list.flatMap(({ models }) => models).find(({ id }) => id === "claude-opus-4-8");
  if (opus) opus.prices = { input_mtok: dollars, output_mtok: dollars };
  return JSON.stringify(list);
}

beforeEach(async () => {
  await pool().query("delete from server_setting where key like 'price_list%'");
  applyPriceList(delivered, "genai-prices");
  setEnv({ PRICES_URL: url });
  requests = 0;
});

afterAll(() => {
  setEnv({ PRICES_URL: undefined });
  server.closeAllConnections();
  server.close();
});

test("nothing is fetched without PRICES_URL", async () => {
  setEnv({ PRICES_URL: undefined });
  await keepPriceList();
  expect(requests).toBe(0);
});

test("a list is fetched once a day, by one of all processes, and outlives a restart without network", async () => {
  answer = (_, response) => response.end(listWith(7));
  await Promise.all([refreshPriceList(), refreshPriceList(), refreshPriceList()]);
  expect(requests).toBe(1);
  expect(cost()?.costNano).toBe(5000n);
  await takePriceList();
  expect(cost()?.costNano).toBe(7000n);
  expect(cost()?.by.from).toMatch(/^genai-prices, fetched 20/);

  answer = (request) => request.destroy();
  await keepPriceList();
  expect(requests).toBe(1);
  await pool().query(
    "update server_setting set updated_at = now() - interval '2 hours' where key = 'price_list_tried'",
  );
  await pool().query(
    "update server_setting set value = jsonb_set(value::jsonb, '{fetchedAt}', '\"2026-01-01T00:00:00Z\"')::text, updated_at = now() where key = 'price_list'",
  );
  applyPriceList(delivered, "genai-prices"); // as a process that starts
  await keepPriceList();
  expect(requests).toBe(2);
  expect(cost()?.costNano).toBe(7000n);
});

test("a copy from another address is not used", async () => {
  answer = (_, response) => response.end(listWith(9));
  await keepPriceList();
  expect(cost()?.costNano).toBe(9000n);
  applyPriceList(delivered, "genai-prices");
  setEnv({ PRICES_URL: `${url}?other` });
  await pool().query("update server_setting set updated_at = now() where key = 'price_list'");
  await takePriceList();
  expect(cost()?.costNano).toBe(5000n);
});

test.each<[string, RequestListener]>([
  ["is not JSON", (_, response) => response.end("<html>moved</html>")],
  ["is no list of prices", (_, response) => response.end('{"prices": 1}')],
  ["is a list with a wrong price", (_, response) => response.end(listWith(-1))],
  ["redirects", (_, response) => response.writeHead(302, { Location: `${url}?next` }).end()],
  ["fails", (_, response) => response.writeHead(500).end(listWith(7))],
  ["ends too early", (request, response) => response.writeHead(200).write("[", () => request.socket.destroy())],
])("an answer that %s changes nothing, and is asked for again after an hour at the earliest", async (_, listener) => {
  answer = listener;
  await keepPriceList();
  await keepPriceList();
  expect(requests).toBe(1);
  expect(cost()?.costNano).toBe(5000n);
  expect((await pool().query("select from server_setting where key = 'price_list'")).rowCount).toBe(0);
});

test("an answer that is huge or slow is cut off, compressed ones by what they unpack to", async () => {
  const { gzipSync } = await import("node:zlib");
  answer = (_, response) => response.end("x".repeat(200_000));
  await expect(fetchText(url, { bytes: 100_000, timeoutMs: 10_000 })).rejects.toThrow("larger than 100000 bytes");
  answer = (_, response) =>
    response.writeHead(200, { "Content-Encoding": "gzip" }).end(gzipSync("x".repeat(5_000_000)));
  await expect(fetchText(url, { bytes: 100_000, timeoutMs: 10_000 })).rejects.toThrow("larger than 100000 bytes");
  answer = () => {};
  await expect(fetchText(url, { bytes: 100_000, timeoutMs: 200 })).rejects.toThrow(/timeout/);
  answer = (_, response) => void response.writeHead(200).write("[");
  await expect(fetchText(url, { bytes: 100_000, timeoutMs: 200 })).rejects.toThrow(/timeout/);
});
