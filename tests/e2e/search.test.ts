import { beforeAll, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { runJob } from "#lib/ingest/process/run-job";
import { accountTraces } from "#lib/ledger/account";
import { indexNext } from "#lib/search/index/indexer";
import { accept, trace } from "../support/ingesting.ts";
import { expectGoodLook, widths } from "../support/look.ts";
import { ready } from "./reader-page.ts";
import { provideSignedIn } from "./signed-in.ts";

const { userId, page, field, button, open, faults } = await provideSignedIn();

const long = "a sentence that goes on and on, ".repeat(12);
const sessions = [
  trace("timer", `${long} the backoff never resets ${long}`, "resets 1", "resets 2", "resets 3", "resets 4"),
  trace("paths", "See src/lib/x.ts first.", "<script>alert(1)</script> foo_bar"),
];

async function send(...traces: unknown[]): Promise<void> {
  await runJob({ userId, jobId: await accept(userId, ...traces) });
}

beforeAll(async () => {
  await send(...sessions);
  while ((await indexNext()) > 0);
});

test("a search by keyboard shows excerpts that lead to their messages", async () => {
  await open("/traces?source=unknown");
  const isFocused = () => field("Search").evaluate((input) => input === document.activeElement);
  // A key does nothing until the page's script runs.
  const press = async () => {
    if (!(await isFocused())) await page.keyboard.press("/");
    return isFocused();
  };
  await expect.poll(press).toBe(true);
  await page.keyboard.type("resets");
  await page.keyboard.press("Enter");
  await page.waitForURL(/q=resets/);
  expect(new URL(page.url()).searchParams.get("source")).toBe("unknown");
  await expect.poll(() => page.locator("mark").allTextContents()).toEqual(["resets", "resets", "resets"]);
  expect(await page.getByText("+2 more").count()).toBe(1);
  const [first] = await page.getByRole("link", { name: /backoff never/ }).all();
  const href = new URL((await first?.getAttribute("href")) ?? "", page.url());
  expect(Object.fromEntries(href.searchParams)).toEqual({ at: "0", q: "resets" });
  expect(await field("Search").inputValue()).toBe("resets");
  expect(faults).toEqual([]);
});

test.each(widths)("what is found reads well at %i px", async (width) => {
  await page.setViewportSize({ width, height: 720 });
  await open("/traces?q=resets");
  await expectGoodLook(page, "search");
});

test("stored markup in an excerpt stays text", async () => {
  await open("/traces?q=foo_bar");
  expect(await page.getByText("<script>alert(1)</script>").count()).toBe(1);
  expect(faults).toEqual([]);
});

test("the page says what is not yet searchable, what is no query, and that nothing was found", async () => {
  await send(trace("late", "resets too"));
  await open("/traces?q=resets");
  expect(await page.getByText("1 session is not yet searchable.").count()).toBe(1);
  while ((await indexNext()) > 0);
  await open("/traces?q=%22");
  expect(await page.getByText(/The search has no word/).count()).toBe(1);
  await open("/traces");
  await field("Search").fill("nothingofthesort");
  await field("Search").press("Enter"); // a phone has no button for it
  await page.waitForURL(/q=nothing/);
  await page.getByText(/No session matches/).waitFor();
});

test("a session's files lead to their places, and to other sessions with them", async () => {
  const call = (position: number, name: string, input: object) => ({
    ...{ position, role: "assistant", content: "done" },
    metadata: { tool: { name, callId: `${position}`, input } },
  });
  const path = "src/components/settings/appearance/theme-choice.tsx";
  const session = (sourceId: string, title: string) => ({
    ...{ sourceId, title, source: "files", project: "shop", metadata: { cwd: "/home/ada/shop" } },
    messages: [
      { position: 0, role: "user", content: "Choose the theme" },
      call(1, "Read", { file_path: "README.md" }),
      call(2, "Edit", { file_path: `/home/ada/shop/${path}`, old_string: "a", new_string: "b\nc" }),
      call(3, "Edit", { file_path: path, old_string: "x\ny", new_string: "x" }),
    ],
  });
  await page.setViewportSize({ width: 1280, height: 720 });
  await send(session("themes", "Themes"), session("more", "More themes"));
  const id = (await pool().query("select id from trace where source_id = 'themes'")).rows[0].id as string;
  const rows = page.locator("[data-outline] [role=tabpanel] li");
  const showFiles = async () => {
    await open(`/traces/${id}`);
    await ready(page);
    await page.getByRole("tab", { name: /^Files/ }).click();
    await rows.first().waitFor();
    return rows.allTextContents();
  };
  const before = await showFiles();
  expect(before).toEqual(["theme-choice.tsxsrc/components/settings/appearance+2 −2", "README.mdread once"]);
  await accountTraces(30);
  expect(await showFiles()).toEqual(before);
  await button(`Places of ${path}`).click();
  await rows.getByRole("link", { name: "#3" }).click();
  await expect.poll(() => new URL(page.url()).searchParams.get("at")).toBe("3");
  await page.getByRole("link", { name: "Other sessions with this file" }).click();
  await page.waitForURL(/\/files\?path=/);
  const listed = page.getByRole("list", { name: "Sessions" }).getByRole("listitem");
  await expect.poll(() => listed.count()).toBe(2);
  expect(faults).toEqual([]);
});
