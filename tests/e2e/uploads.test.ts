import { readFile } from "node:fs/promises";
import type { Page } from "playwright";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { signIn } from "../support/browser.ts";
import { acceptFailed, entries } from "../support/ingesting.ts";
import { expectGoodLook, widths } from "../support/look.ts";
import { logIn, makeUser, operatorSecret, owner, post } from "../support/server.ts";
import { provideSignedIn } from "./signed-in.ts";

// There is no worker: uploads wait until the test calls the cron route.
const { server, userId, browser, page, faults, open: visit, button } = await provideSignedIn();
await page.setViewportSize({ width: 1280, height: 500 });
await page.clock.install();
const token = await logIn(server, userId);
await pool().query("create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$");
afterAll(() => pool().query("drop function refuse"));
beforeEach(async () => {
  await pool().query("delete from ingest_job");
  await pool().query("delete from pgboss.job");
});

const batch = (sourceId: string) => ({
  traces: [{ sourceId, messages: [{ position: 0, content: `of ${sourceId}` }] }],
});

async function send(sourceId: string): Promise<string> {
  const response = await post(server, "/api/ingest", batch(sourceId), { Authorization: `Bearer ${token}` });
  return ((await response.json()) as { jobId: string }).jobId;
}

const work = () => post(server, "/api/cron", "", { Authorization: `Bearer ${operatorSecret}` });

/** Sends an upload whose processing fails, as a fault of the server would make it. */
async function sendFailing(sourceId: string): Promise<string> {
  const jobId = await send(sourceId);
  await pool().query("update ingest_job set attempts = 4 where id = $1", [jobId]);
  await pool().query("create trigger refuse before insert on trace for each row execute function refuse()");
  await work();
  await pool().query("drop trigger refuse on trace");
  return jobId;
}

const open = (path = "/uploads", on = page) => visit(path, on);
/** Lets the time pass after which a page with open uploads asks again. */
const letRefresh = () => page.clock.fastForward(2000);
const row = (jobId: string, on = page) => on.locator(`[id="${jobId}"]`);
const shows = (jobId: string, text: string | RegExp) => row(jobId).getByText(text).first().waitFor();
const link = (name: string, on = page) => on.getByRole("link", { name, exact: true });
const rows = (on = page) => on.getByRole("list", { name: "Uploads" }).getByRole("listitem").count();

/** Posts the page's form for one upload, as another site or a program might. */
async function postForm(tab: Page, id: string, headers: Record<string, string>): Promise<string> {
  const html = await (await tab.request.get(`${server.url}/uploads`)).text();
  const form = /<form[^>]*id="replay"[\s\S]*?<\/form>/.exec(html)?.[0] ?? "";
  const multipart: Record<string, string> = { id };
  for (const [tag] of form.matchAll(/<input[^>]*type="hidden"[^>]*>/g)) {
    const value = /\svalue="([^"]*)"/.exec(tag)?.[1] ?? "";
    multipart[/\sname="([^"]*)"/.exec(tag)?.[1] ?? ""] = value.replaceAll("&quot;", '"').replaceAll("&amp;", "&");
  }
  expect(Object.keys(multipart).length).toBeGreaterThan(2);
  const sent = { multipart, headers, maxRedirects: 0, failOnStatusCode: false };
  return (await tab.request.post(`${server.url}/uploads`, sent)).text();
}

describe("waiting uploads", () => {
  test("are safe without a worker, and the page says so with the command to start one", async () => {
    const jobId = await send("waits");
    await open();
    await page.getByText("Uploads are stored and waiting").waitFor();
    await page.getByText("npm run worker", { exact: true }).waitFor();
    await shows(jobId, "waiting");
    await link("Waiting·1").waitFor();
  });

  test("update by themselves without moving the page or the focus, and then the page stops polling", async () => {
    const jobs: string[] = [];
    for (let n = 0; n < 15; n += 1) jobs.push(await send(`turn-${n}`));
    await open();
    const [lowest = ""] = jobs;
    const details = row(lowest).getByRole("link", { name: "Details" });
    await details.scrollIntoViewIfNeeded();
    await details.focus();
    const scrolled = await page.evaluate("scrollY");
    expect(scrolled).toBeGreaterThan(0);
    // Only words change, so the page keeps its height.
    await pool().query("update ingest_job set status = 'running', attempts = 1 where id = $1", [lowest]);
    await letRefresh();
    await shows(lowest, "running");
    const focused = "document.activeElement.getAttribute('href')";
    expect([await page.evaluate("scrollY"), await page.evaluate(focused)]).toEqual([scrolled, `/uploads/${lowest}`]);
    await work();
    await letRefresh();
    await shows(lowest, "done");
    await shows(lowest, "1 session received: 1 created");
    expect(await page.evaluate(focused)).toBe(`/uploads/${lowest}`);
    expect(await page.getByText("Uploads are stored and waiting").count()).toBe(0);
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    // A refresh that was under way may still ask once.
    await expect
      .poll(
        async () => {
          asked.length = 0;
          for (let round = 0; round < 2; round += 1) {
            await letRefresh();
            await page.waitForTimeout(500);
          }
          return asked;
        },
        { timeout: 15_000 },
      )
      .toEqual([]);
    expect(faults).toEqual([]);
  });
});

describe("a failed upload", () => {
  test("says why, can be downloaded, and is processed after Replay", async () => {
    const jobId = await sendFailing("mended");
    await open();
    await shows(jobId, "failed");
    await shows(jobId, "The server could not process this upload.");
    await row(jobId).getByRole("link", { name: "Details" }).click();
    await page.getByRole("heading", { name: "Upload from ada-laptop" }).waitFor();
    await page.getByText(/Stored until .* or for 7 days after a replay succeeds/).waitFor();
    const [download] = await Promise.all([page.waitForEvent("download"), link("Download").click()]);
    expect(download.suggestedFilename()).toBe(`spoor-upload-${jobId}.json`);
    expect(JSON.parse(await readFile(await download.path(), "utf8"))).toMatchObject(batch("mended"));
    await link("All uploads").click();
    await page.getByRole("heading", { name: "Uploads", exact: true }).waitFor(); // the page before has a Replay, too
    await button("Replay").dblclick(); // as some people press every button
    const told = page.getByText("The upload is queued again.");
    await told.waitFor();
    await shows(jobId, "waiting");
    await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("The upload is queued again."); // once the page's script runs
    await work();
    await letRefresh();
    await shows(jobId, "1 created");
    await told.waitFor();
    expect(faults).toEqual([]);
  });

  test("names the invalid path", async () => {
    const jobId = await acceptFailed(userId, ...batch("wrong").traces);
    await pool().query(
      `update ingest_job set error_code = 'invalid_request', error_message =
         'The batch is not valid: traces.0.messages.3.position stands twice in its trace.' where id = $1`,
      [jobId],
    );
    await open();
    await shows(jobId, /The batch is not valid: traces\.0\.messages\.3\.position stands twice/);
  });

  test("that was replayed elsewhere meanwhile says so", async () => {
    const jobId = await acceptFailed(userId, ...batch("elsewhere").traces);
    await open();
    await pool().query("update ingest_job set status = 'succeeded' where id = $1", [jobId]);
    await button("Replay").click();
    await page.getByText("Only a failed upload can be replayed; this one was processed.").waitFor();
    await shows(jobId, "done");
  });

  test("whose upload is gone offers no replay and says to send it again", async () => {
    const jobId = await acceptFailed(userId, ...batch("gone").traces);
    await pool().query("delete from upload where job_id = $1", [jobId]);
    await open();
    await shows(jobId, /no longer stored. Send it again/);
    expect(await button("Replay").count()).toBe(0);
    await open(`/uploads/${jobId}`);
    expect(await link("Download").count()).toBe(0);
  });

  test("is replayed with all others by one button, which reports the count", async () => {
    for (let n = 0; n < 3; n += 1) await acceptFailed(userId, ...batch(`all-${n}`).traces);
    await open("/uploads?status=failed");
    expect(await rows()).toBe(3);
    await button("Replay all").click();
    await page.getByText("3 uploads replayed.").waitFor();
    await page.getByText("No uploads have failed.").waitFor();
    await link("Waiting·3").click();
    await expect.poll(() => rows()).toBe(3);
    await work();
    await letRefresh();
    await page.getByText("No uploads are queued.").waitFor();
  });

  test("whose Replay is sent twice, as by a double click, is queued once, and both are told so", async () => {
    const jobId = await sendFailing("twice");
    for (const _ of [1, 2]) {
      expect(await postForm(page, jobId, { Origin: server.url })).toContain("The upload is queued again.");
    }
    expect(await entries(jobId)).toBe(1);
  });

  test("can be replayed without JavaScript, but not from another origin", async () => {
    const jobId = await acceptFailed(userId, ...batch("plain").traces);
    const plain = await browser.newContext({ javaScriptEnabled: false });
    const tab = await plain.newPage();
    await signIn(tab, server, owner);
    const status = async () =>
      (await pool().query("select status from ingest_job where id = $1", [jobId])).rows[0].status;
    const foreign: Record<string, string>[] = [
      {},
      { Origin: "https://evil.example" },
      { Origin: server.url, "Sec-Fetch-Site": "cross-site" },
    ];
    for (const headers of foreign) {
      await postForm(tab, jobId, headers);
      expect(await status()).toBe("failed");
    }
    await open("/uploads", tab);
    await button("Replay", tab).click();
    await tab.getByText("The upload is queued again.").waitFor();
    expect(await status()).toBe("queued");
    await link("Refresh", tab).click();
    await tab.getByText("waiting", { exact: true }).waitFor();
    await plain.close();
  });
});

test("an upload's page links the sessions that it created, and says why it kept others", async () => {
  const jobId = await send("linked");
  await work();
  await open(`/uploads/${jobId}`);
  await page.getByRole("list", { name: "Created and updated sessions" }).getByRole("link", { name: "linked" }).click();
  await page.getByText("of linked").first().waitFor();
  const trace = { sourceId: "linked", messages: [] };
  const shorter = await post(server, "/api/ingest", { traces: [trace] }, { Authorization: `Bearer ${token}` });
  await work();
  await open(`/uploads/${((await shorter.json()) as { jobId: string }).jobId}`);
  await page.getByText("1 session not updated: the upload has fewer messages").waitFor();
  await page.getByText("spoor push --replace").waitFor();
  await page.getByRole("list", { name: "Kept sessions" }).getByText("linked").waitFor();
});

describe("the list", () => {
  test("continues at Older within its filter, and ignores invalid parameters", async () => {
    const jobId = await acceptFailed(userId, ...batch("first").traces);
    await pool().query(
      `insert into ingest_job (user_id, id, machine, status, bytes, body_sha256, traces_received, messages_received)
       select user_id, ('01900000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'build', 'failed', 1, '', 1, 1
       from ingest_job, generate_series(1, 60) as n where id = $1`,
      [jobId],
    );
    await open("/uploads?status=failed");
    await link("Failed·61").waitFor();
    expect(await rows()).toBe(50);
    await link("Older").click();
    await link("Newest").waitFor();
    expect([await rows(), await link("Older").count()]).toEqual([11, 0]);
    await link("Newest").click();
    await link("Older").waitFor();
    await open("/uploads?status=nonsense&before=nonsense");
    expect(await rows()).toBe(50);
  });

  test("shows no other user's uploads, and neither does an upload's page", async () => {
    const bob = await makeUser({ name: "Bob", email: "bob@example.org", password: "" });
    const theirs = await acceptFailed(bob, ...batch("theirs").traces);
    await open();
    await page.getByText("No uploads yet.").waitFor();
    for (const id of [theirs, "not-an-id"]) expect((await open(`/uploads/${id}`))?.status()).toBe(404);
  });
});

test.each(widths)("every state at %i px is accessible and fits", async (width) => {
  const failed = await sendFailing(`look-${width}`);
  const wrong = await acceptFailed(userId, ...batch("wrong").traces);
  await pool().query(
    `update ingest_job set error_code = 'invalid_request', machine = $2, error_message =
       'The batch is not valid: traces.0.messages.3.position stands twice in its trace.' where id = $1`,
    [wrong, "a-build-server-with-a-rather-long-name.example.org"],
  );
  await pool().query("update ingest_job set finished_at = now() - interval '1 day' where id = $1", [failed]);
  const kept = await send("kept");
  await work();
  await pool().query("update ingest_job set traces_kept = 1, traces_created = 0 where id = $1", [kept]);
  await send("waits");
  await pool().query("delete from process_heartbeat");
  const themed = await browser.newContext({ viewport: { width, height: 800 } });
  const tab = await themed.newPage();
  await signIn(tab, server, owner);
  const paths = {
    list: "/uploads",
    failed: "/uploads?status=failed",
    one: `/uploads/${failed}`,
    kept: `/uploads/${kept}`,
  };
  for (const [name, path] of Object.entries(paths)) {
    await open(path, tab);
    await expectGoodLook(tab, `uploads-${name}`, { fullPage: true });
  }
  await themed.close();
});
