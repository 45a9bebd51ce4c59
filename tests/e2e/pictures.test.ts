import { beforeAll, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { acceptBatch } from "#lib/ingest/accept/batch";
import { endThreads } from "#lib/ingest/decode/thread-pool";
import { receivePicture } from "#lib/ingest/pictures/accept";
import { runJob } from "#lib/ingest/process/run-job";
import { expectGoodLook } from "../support/look.ts";
import { makePlaceholder, makePng, naming, type Sample } from "../support/pictures.ts";
import { ready } from "./reader-page.ts";
import { provideSignedIn } from "./signed-in.ts";

const { server, userId, page, faults, stranger, open, button } = await provideSignedIn();

const colors = [[200, 60, 60] as const, [60, 140, 80] as const, [70, 90, 200] as const];
const [red, green, blue] = colors.map((color, at) =>
  makePng({ width: 640 - 200 * at, height: 400, color: [...color] }),
);
const gone = makePng({ extra: 9000 });
let traceId = "";

beforeAll(async () => {
  for (const { sha256, mediaType, bytes } of [red, green, blue] as Sample[]) {
    const init = { method: "PUT", headers: { "Content-Type": mediaType }, body: bytes };
    await receivePicture(new Request("http://localhost", init), userId, sha256);
  }
  const all = [red, green, gone] as Sample[];
  const read = { name: "Read", callId: "c1", input: { file_path: "shot.png" } };
  const said = [
    {
      role: "user",
      content: ["Why is this button red?", ...all.map(makePlaceholder)].join("\n"),
      metadata: naming(...all),
    },
    { role: "assistant", content: "", metadata: { tool: read } },
    {
      role: "tool",
      content: makePlaceholder(blue as Sample),
      metadata: { result: { callId: "c1" }, ...naming(blue as Sample) },
    },
    { role: "assistant", content: "Because it deletes." },
  ];
  const messages = said.map((one, position) => ({ ...one, position }));
  const body = Buffer.from(
    JSON.stringify({ traces: [{ sourceId: "p", source: "claude-code", title: "A red button", messages }] }),
  );
  await runJob({ userId, jobId: await acceptBatch({ userId, machine: "m" }, body, "identity", undefined) });
  await endThreads();
  traceId = (await pool().query("select id from trace where source_id = 'p'")).rows[0].id;
});

const thumbnails = (on = page) => on.locator(".pictures img");
const areShown = (on = page) =>
  expect
    .poll(() => thumbnails(on).evaluateAll((all) => all.map((one) => (one as HTMLImageElement).naturalWidth)))
    .not.toContain(0);

test("pictures are thumbnails below their messages, in tools' results too, and open in full by mouse and by keys", async () => {
  await open(`/traces/${traceId}`);
  await ready(page);
  await areShown();
  expect(await thumbnails().evaluateAll((all) => all.map((one) => one.getAttribute("alt")))).toEqual([
    "Picture 1 of 2, image/png, 2 KiB",
    "Picture 2 of 2, image/png, 2 KiB",
    "Picture 1 of 1, image/png, 2 KiB",
  ]);
  expect(await page.locator(".messages").innerText()).toContain(makePlaceholder(gone));
  expect((await page.locator(".messages").innerText()).match(/\[image:/g)).toHaveLength(1);
  await expectGoodLook(page, "pictures");
  await page.getByRole("link", { name: "Picture 1 of 2, image/png, 2 KiB" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("img", { name: "Picture 1 of 2, image/png, 2 KiB" }).waitFor();
  await expectGoodLook(page, "picture");
  await page.keyboard.press("ArrowRight");
  await dialog.getByRole("img", { name: "Picture 2 of 2, image/png, 2 KiB" }).waitFor();
  await page.keyboard.press("ArrowRight");
  await dialog.getByRole("img", { name: "Picture 1 of 2, image/png, 2 KiB" }).waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "hidden" });
  expect(await page.evaluate(() => document.activeElement?.hasAttribute("data-picture"))).toBe(true);
  // The page is told that the dialog was closed a moment later, when quick fingers may have opened it again.
  for (let times = 0; times < 10; times += 1) {
    await page.keyboard.press("Enter");
    await button("Close").waitFor();
    await page.keyboard.press("Escape");
  }
  await page.keyboard.press("Enter");
  await button("Close").click();
  await dialog.waitFor({ state: "hidden" });
  expect(page.url()).toContain(`/traces/${traceId}`);
  expect(faults).toEqual([]);
});

test("on a phone, too", async () => {
  await page.setViewportSize({ width: 360, height: 740 });
  await open(`/traces/${traceId}`);
  await ready(page);
  await areShown();
  await expectGoodLook(page, "pictures");
  await page.getByRole("link", { name: "Picture 2 of 2, image/png, 2 KiB" }).click();
  await page.getByRole("dialog").getByRole("img").waitFor();
  await expectGoodLook(page, "picture");
  await button("Close").click();
  await page.setViewportSize({ width: 1280, height: 720 });
  expect(faults).toEqual([]);
});

/** Makes a link to what the page of sharing shows. @returns its path */
async function link(): Promise<string> {
  await button("Create link").click();
  const text = await page.locator("pre", { hasText: "/shared/" }).first().textContent();
  return new URL(String(text).trim()).pathname;
}

test("a link opens pictures only where its owner ticked them, and shows their placeholders otherwise", async () => {
  await open(`/traces/${traceId}/share`);
  expect(await thumbnails().count()).toBe(0);
  const plain = await link();
  await page.getByLabel(/^Include pictures/).check();
  await button("Show").click();
  await page.waitForURL(/pictures=1/);
  await areShown();
  await expectGoodLook(page, "share-pictures");
  const ticked = await link();
  const other = await stranger();
  await other.goto(server.url + plain);
  await ready(other);
  expect(await thumbnails(other).count()).toBe(0);
  expect((await other.locator(".messages").textContent())?.match(/\[image: image\/png/g)).toHaveLength(4);
  await other.goto(server.url + ticked);
  await ready(other);
  await areShown(other);
  const src = String(await thumbnails(other).first().getAttribute("src"));
  expect(src.startsWith(`/api${ticked}/pictures/`)).toBe(true);
  expect((await other.request.get(server.url + src)).status()).toBe(200);
  expect((await other.request.get(server.url + src.replace(ticked, plain))).status()).toBe(404);
  expect((await other.request.get(`${server.url}/api/traces/${traceId}/pictures/${red?.sha256}`)).status()).toBe(401);
  await other.getByRole("link", { name: "Picture 1 of 2, image/png, 2 KiB" }).click();
  await other.getByRole("dialog").getByRole("img").waitFor();
  await open("/settings/shares");
  await page.getByText("with pictures").waitFor();
  expect(await page.getByText("with pictures").count()).toBe(1);
  expect(faults).toEqual([]);
});
