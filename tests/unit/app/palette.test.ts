import { expect, test } from "vitest";
import { groupEntries } from "../../../app/components/shell/palette/entries.ts";

const id = "019a9c40-1f2e-7c31-9a70-5b1c7e2d4f60";
const found = {
  ok: true as const,
  sessions: [
    { id, title: "Fix the flaky watcher", source: "codex", project: "api", updatedAt: "2026-11-20T10:00:00Z" },
  ],
  projects: [{ id, name: "api" }],
};
const toTexts = (query: string) =>
  groupEntries(query, [{ id: "action 0", text: "Export as JSON", run: () => {} }], found).map(({ title, items }) => [
    title,
    items.map(({ text }) => text),
  ]);

test("the palette has what every word of the query is in, and never what was found for another query", () => {
  expect(toTexts("flaky FIX")).toEqual([
    ["Sessions", ["Fix the flaky watcher"]],
    ["Search", ["Search every message for “flaky FIX”"]],
  ]);
  expect(toTexts("diagn").map(([title]) => title)).toEqual(["Pages", "Search"]);
  expect(toTexts("json")[0]).toEqual(["On this page", ["Export as JSON"]]);
});

test("without a query it offers actions, the latest sessions and all pages", () => {
  expect(toTexts(" ").map(([title]) => title)).toEqual(["On this page", "Latest sessions", "Projects", "Pages"]);
});
