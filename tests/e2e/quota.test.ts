import { beforeAll, beforeEach, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { runJob } from "#lib/ingest/process/run-job";
import { provideBrowser, signIn } from "../support/browser.ts";
import { accept, acceptFailed, trace } from "../support/ingesting.ts";
import { expectGoodLook, widths } from "../support/look.ts";
import { makeNoise } from "../support/random.ts";
import { makeUser, owner, provideServer } from "../support/server.ts";

const server = await provideServer({ worker: false, environment: { USER_QUOTA_BYTES: "1000000" } });
const userId = await makeUser();
const { browser, page, faults } = await provideBrowser();

beforeAll(() => signIn(page, server, owner));
beforeEach(async () => {
  await pool().query("delete from ingest_job");
  await pool().query("delete from trace");
});

async function store(bytes: number): Promise<void> {
  await runJob({ userId, jobId: await accept(userId, trace("stored", makeNoise(bytes))) });
}

test("what is used of the quota is shown in the settings and with the uploads, and a notice where it is nearly full", async () => {
  for (const [bytes, shown, isNearlyFull] of [
    [320_000, "321 KB of 1.0 MB", false],
    [950_000, "951 KB of 1.0 MB", true],
  ] as const) {
    await store(bytes);
    for (const path of ["/uploads", "/settings"]) {
      await page.goto(server.url + path);
      await page.getByText(shown).waitFor();
      expect(await page.getByText("Nearly full").isVisible()).toBe(isNearlyFull);
      for (const width of widths) {
        await page.setViewportSize({ width, height: 700 });
        await expectGoodLook(page, `quota${path.replace("/", "-")}${isNearlyFull ? "-full" : ""}`, { fullPage: true });
      }
      await page.setViewportSize({ width: 1280, height: 700 });
    }
  }
  expect(faults).toEqual([]);
});

test("a file that does not fit is refused with the figures, without script with a sentence", async () => {
  await store(950_000);
  const file = (on = page) =>
    on.locator("#file").setInputFiles({
      name: "batch.json",
      mimeType: "application/json",
      buffer: Buffer.from(JSON.stringify(trace("more", makeNoise(100_000)))),
    });
  await page.goto(`${server.url}/upload`);
  await file();
  await page.getByText("quota of 1.0 MB (1000000 bytes)").waitFor();
  const context = await browser.newContext({ javaScriptEnabled: false });
  await context.addCookies(await page.context().cookies());
  const plain = await context.newPage();
  await plain.goto(`${server.url}/upload`);
  await file(plain);
  await plain.getByRole("button", { name: "Upload" }).click();
  await plain.getByText("The file exceeds your quota").waitFor();
  await context.close();
});

test("a failed upload says until when it is stored, and after 30 days that it is gone", async () => {
  const jobId = await acceptFailed(userId, trace("failed", "a"));
  await page.goto(`${server.url}/uploads/${jobId}`);
  await page.getByText(/Stored until .*, or for 7 days after a replay succeeds\./).waitFor();
  await pool().query("delete from upload where job_id = $1", [jobId]);
  await page.reload();
  await page.getByText("it was removed 30 days after it failed").waitFor();
  expect(await page.getByRole("button", { name: "Replay" }).count()).toBe(0);
});
