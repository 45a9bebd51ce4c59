import { expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { provideList } from "./list-page.ts";

const { server, page, faults, button, open, link, rows, query, reset } = await provideList();

test("a tag whose sessions are archived leads to them", async () => {
  await reset();
  await pool().query("update trace set tags = '{kept}', archived_at = now() where title = 'Session 7'");
  await open("/traces?tag=kept");
  await page.getByText("No session matches this filter.").waitFor();
  await link("Show archived sessions").click();
  await expect.poll(() => rows().count()).toBe(1);
  expect(query()).toBe("?tag=kept&archived=true");
});

test("a misspelled filter leads to the one that was meant", async () => {
  await open("/traces?q=projct:project-3");
  await link("project:project-3").click();
  await page.getByText("24 sessions", { exact: true }).first().waitFor();
});

test("a search that is none shows no sessions, says why, and is kept in its field", async () => {
  await open("/traces?q=role:thinking&model=model-1");
  await page.getByText(/The search needs a word beside/).waitFor();
  expect(await rows().count()).toBe(0);
  expect(await page.getByLabel("Search", { exact: true }).inputValue()).toBe("role:thinking");
  await link("Leave out the search").click();
  await page.getByText("59 sessions", { exact: true }).first().waitFor();
});

test("Back after a deletion shows neither the question nor the session", async () => {
  const { rows: found } = await pool().query("select id from trace where title = 'Session 120'");
  await open();
  await link("Session 120").click();
  await page.waitForURL(/\/traces\/[\w-]{36}/);
  await open(`/traces/${found[0].id}?delete=1`);
  await page.getByRole("dialog", { name: "Delete this session?" }).waitFor();
  await button("Delete").click();
  await page.waitForURL(`${server.url}/traces`);
  await page.goBack();
  await page.getByRole("heading", { name: "There is nothing here" }).waitFor();
  expect(await page.getByRole("dialog").count()).toBe(0);
  expect(await page.getByText("Session 120").count()).toBe(0);
  faults.length = 0; // the missing page is one
});
