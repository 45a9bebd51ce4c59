import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { provideList } from "./list-page.ts";

const { page, faults, button, open, link, boxes, query, store, reset } = await provideList();

describe("selected sessions", () => {
  test("are ticked one by one, in ranges, as a page and as a whole filter", async () => {
    await reset();
    await open("/traces?model=model-1");
    await boxes().nth(2).click();
    await boxes()
      .nth(5)
      .click({ modifiers: ["Shift"] });
    await page.getByText("4 selected", { exact: true }).waitFor();
    await page.getByLabel("Select all 50 on this page").click();
    await page.getByText("50 selected", { exact: true }).waitFor();
    await button("Select all 60 sessions of this filter").click();
    await page.getByText("All 60 sessions selected").waitFor();
    await boxes().nth(1).click();
    await page.getByText("49 selected", { exact: true }).waitFor();
    await button("Clear").click();
    await page.getByText("49 selected", { exact: true }).waitFor({ state: "hidden" });
  });

  test("have all their actions in sight on a phone", async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    await open("/traces?model=model-1");
    await boxes().first().click();
    for (const name of ["Star", "Tag", "Archive", "Export", "Export (secrets masked)", "Delete"]) {
      const { x, width, height } = (await button(name).first().boundingBox()) ?? { x: -1, width: 0, height: 0 };
      expect([name, x >= 0, x + width <= 360, height <= 48]).toEqual([name, true, true, true]);
    }
    await page.setViewportSize({ width: 1280, height: 720 });
  });

  test("are exported, and so is a whole filter", async () => {
    await open("/traces?model=model-1");
    const lines = async (click: () => Promise<void>) => {
      const [download] = await Promise.all([page.waitForEvent("download"), click()]);
      return (await readFile(await download.path(), "utf8"))
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
    };
    expect(await lines(() => link("Export").click())).toHaveLength(60);
    await boxes().nth(0).click();
    await boxes().nth(1).click();
    expect((await lines(() => button("Export").click())).map(({ title }) => title)).toEqual([
      "Session 119",
      "Session 117",
    ]);
  });

  test("are deleted after a page that lists and counts them", async () => {
    await open("/traces?model=model-1");
    await boxes().nth(0).click();
    await button("Delete").click();
    await page.getByRole("heading", { name: "Delete this session?" }).waitFor();
    await page.getByText("Session 119").waitFor();
    await link("Cancel").click();
    await boxes().nth(0).check();
    await boxes().nth(1).check();
    await button("Delete").click();
    await page.getByText("Delete these 2 sessions?").waitFor();
    await button("Delete").click();
    await page.getByText("2 sessions were deleted.").waitFor();
    await page.getByText("58 sessions", { exact: true }).first().waitFor();
    expect(query()).toBe("?model=model-1&deleted=2");
  });

  test("of a whole filter are deleted together, except those that arrived after they were counted", async () => {
    await open("/traces?project=project-0");
    await page.getByLabel(/^Select all \d+ on this page$/).check();
    await button("Select all 24 sessions of this filter").click();
    await link("Delete").click();
    await page.getByText("Delete these 24 sessions?").waitFor();
    await page.getByText("and 14 more").waitFor();
    await store(2000, 2000);
    await button("Delete").click();
    await page.getByText("24 sessions were deleted.").waitFor();
    await open("/traces?project=project-0");
    await page.getByText("1 session", { exact: true }).first().waitFor();
    await open("/traces/delete?all=1&project=project-1");
    await pool().query("update trace set stored_at = now() + interval '1 second' where title = 'Session 1'");
    await button("Delete").click();
    await page.getByText("Nothing was deleted").waitFor();
    await page.getByRole("heading", { name: "Delete these 24 sessions?" }).waitFor();
    await open("/traces/delete?all=1&from=nonsense");
    await page.getByRole("heading", { name: "Nothing to delete" }).waitFor();
    expect(faults).toEqual([]);
  });

  test("are tagged and archived after a dialog asked", async () => {
    await reset();
    await open("/traces?model=model-1");
    const asked = (name: string) => page.getByRole("dialog", { name });
    await boxes().nth(0).click();
    await boxes().nth(1).click();
    await button("Tag").click();
    await asked("Tag 2 sessions").getByLabel("Tag", { exact: true }).fill("Release");
    await page.keyboard.press("Enter"); // sends the dialog, not the list's form around its button
    await expect.poll(() => link("release").count()).toBe(2);
    await button("Archive").click();
    await asked("Archive 2 sessions?").getByRole("button", { name: "Cancel" }).click();
    await page.getByText("60 sessions", { exact: true }).first().waitFor();
    await button("Archive").click();
    await asked("Archive 2 sessions?").getByRole("button", { name: "Archive" }).click();
    await page.getByText("58 sessions", { exact: true }).first().waitFor();
    await open("/traces/delete?all=1");
    await page.getByRole("heading", { name: "Delete these 118 sessions?" }).waitFor();
    await page.getByText("All of your sessions but archived ones and those without content, as of").waitFor();
    await pool().query("update trace set archived_at = now()");
    await open("/traces");
    await page.getByText("All sessions are archived or empty.").waitFor();
    await open("/traces?tag=release&archived=true");
    await expect.poll(() => boxes().count()).toBe(2);
    expect(faults).toEqual([]);
  });
});
