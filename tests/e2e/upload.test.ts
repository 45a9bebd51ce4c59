import { gzipSync } from "node:zlib";
import type { Page } from "playwright";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { interceptFromStart, provideBrowser, signIn, watchFaults } from "../support/browser.ts";
import { expectGoodLook, widths } from "../support/look.ts";
import { makeUser, owner, provideServer } from "../support/server.ts";

const server = await provideServer();
await makeUser();
const { browser, page, faults, button } = await provideBrowser();
await interceptFromStart(page);

beforeAll(async () => {
  await signIn(page, server, owner);
});
beforeEach(async () => {
  await pool().query("delete from ingest_job");
  await pool().query("delete from trace");
  await page.unrouteAll();
  await page.goto(`${server.url}/upload`);
});

const trace = (sourceId: string) => ({ sourceId, title: sourceId, messages: [{ position: 0, content: "text" }] });
const lines = (count: number) => Array.from({ length: count }, (_, n) => JSON.stringify(trace(`s-${n}`))).join("\n");
const choose = (name: string, content: string | Buffer, on: Page = page) =>
  on.locator("#file").setInputFiles({ name, mimeType: "application/octet-stream", buffer: Buffer.from(content) });
const file = (name: string, on: Page = page) =>
  on.getByRole("list", { name: "Files" }).getByRole("listitem").filter({ hasText: name });
const jobs = async () => (await pool().query("select id from ingest_job")).rowCount;
const stored = async () => Number((await pool().query("select count(*) from trace")).rows[0].count);

describe("a file that is uploaded in the browser", () => {
  test("of JSON Lines is sent in parts, and the outcome of each part's job is shown", async () => {
    await choose("export.jsonl.gz", gzipSync(lines(2300)));
    for (const [part, count] of [
      ["Part 1", "1,000"],
      ["Part 2", "1,000"],
      ["Part 3", "300"],
    ]) {
      const line = page.locator("li li", { hasText: part });
      await line.getByText(`${count} sessions: ${count} created`).waitFor();
    }
    expect(await stored()).toBe(2300);
    expect(await file("export.jsonl.gz").textContent()).not.toMatch(/ of .*%/); // its size alone, once all of it is sent
    await file("export.jsonl.gz").getByRole("link", { name: "Details" }).first().click();
    await page.getByRole("heading", { name: "Upload from browser" }).waitFor();
    expect(faults).toEqual([]);
  });

  test("is a batch, a session, or several files that are dropped", async () => {
    await choose("batch.json", JSON.stringify({ traces: [trace("a"), trace("b")] }, null, 2));
    await file("batch.json").getByText("2 sessions: 2 created").waitFor();
    const dropped = [JSON.stringify(trace("c"), null, 2), JSON.stringify(trace("d"))];
    const transfer = await page.evaluateHandle(`(() => {
      const transfer = new DataTransfer();
      ${JSON.stringify(dropped)}.forEach((text, n) => transfer.items.add(new File([text], "dropped-" + n + ".json")));
      return transfer;
    })()`);
    await page.locator("#file").dispatchEvent("drop", { dataTransfer: transfer });
    await file("dropped-0.json").getByText("1 session: 1 created").waitFor();
    await file("dropped-1.json").getByText("1 session: 1 created").waitFor();
    expect(await stored()).toBe(4);
  });

  test("is refused with the line and the field that are wrong", async () => {
    const wrong = JSON.stringify({ sourceId: "wrong", messages: [{ position: -1, content: "" }] });
    await choose("wrong.jsonl", `${lines(2)}\n${wrong}`);
    await file("wrong.jsonl").getByText("line 3, messages.0.position").waitFor();
    await file("wrong.jsonl").getByText("No part of the file was stored.").waitFor();
    await choose("picture.png", Buffer.from([0x89, 0x50, 0xff, 0xfe]));
    await file("picture.png").getByText("The file is not UTF-8 text.").waitFor();
    expect(await jobs()).toBe(0);
  });

  test("whose connection is lost is sent again safely, even where the server had it already", async () => {
    await page.route("**/api/uploads", async (route) => {
      await route.fetch();
      await route.abort();
    });
    await choose("lost.json", JSON.stringify(trace("lost")));
    await file("lost.json").getByText("Sending again is safe").waitFor();
    expect(await jobs()).toBe(1);
    await page.unrouteAll();
    await button("Send again").click();
    await file("lost.json").getByText("1 session: 1 created").waitFor();
    expect(await jobs()).toBe(1);
  });

  test("waits where the server is busy, and continues automatically", async () => {
    let asked = 0;
    await page.route("**/api/uploads", (route) => {
      asked += 1;
      if (asked > 1) return route.continue();
      const problem = { ok: false, status: 503, detail: "The server is receiving as much as it can hold." };
      return route.fulfill({ status: 503, headers: { "Retry-After": "1" }, json: problem });
    });
    await choose("busy.json", JSON.stringify(trace("busy")));
    await file("busy.json").getByText("as much as it can hold").waitFor();
    await file("busy.json").getByText("1 session: 1 created").waitFor();
  });
});

test("without JavaScript a form accepts a JSON file, and says what is wrong with another", async () => {
  const context = await browser.newContext({
    javaScriptEnabled: false,
    storageState: await page.context().storageState(),
  });
  context.setDefaultTimeout(10_000);
  const plain = await context.newPage();
  await plain.goto(`${server.url}/upload`);
  await choose("wrong.json", '{"traces":[{"sourceId":"x"}]}', plain);
  await plain.getByRole("button", { name: "Upload", exact: true }).click();
  await plain.getByText("The problem is at traces.0.messages. Nothing was stored.").waitFor();
  await choose("batch.json", JSON.stringify({ traces: [trace("plain")] }), plain);
  await plain.getByRole("button", { name: "Upload", exact: true }).click();
  await plain.getByRole("heading", { name: "Upload from browser" }).waitFor();
  await context.close();
});

test.each(widths)("the page at %i px is accessible and fits", { timeout: 60_000 }, async (width) => {
  const context = await browser.newContext({
    viewport: { width, height: 740 },
    storageState: await page.context().storageState(),
  });
  const wrong = watchFaults(context);
  const tab = await context.newPage();
  await interceptFromStart(tab);
  await tab.goto(`${server.url}/upload`);
  await choose("sessions-of-a-week-with-a-long-name.jsonl", lines(1200), tab);
  await tab.locator("li li", { hasText: "Part 2" }).getByText("200 sessions").waitFor();
  await choose("wrong.json", JSON.stringify({ traces: [{ sourceId: "x" }] }), tab);
  await file("wrong.json", tab).getByText("traces.0.messages").waitFor();
  // A request that never ends leaves the bar where it is.
  await tab.route("**/api/uploads", () => {});
  await choose("under-way.json", JSON.stringify(trace("under-way")), tab);
  await tab.getByRole("progressbar").waitFor();
  await expectGoodLook(tab, "upload-under-way");
  expect(wrong.filter((fault) => !/status of 400/.test(fault))).toEqual([]);
  await context.close();
});
