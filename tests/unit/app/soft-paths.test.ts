import { globSync } from "node:fs";
import { expect, test } from "vitest";
import { isSoft } from "../../../app/components/shell/navigation.tsx";

test("every page of those who are signed in opens without a reload, but the question before a deletion", () => {
  const pages = globSync("app/(app)/**/page.tsx").map((file) => file.slice("app/(app)".length, -"/page.tsx".length));
  expect(pages.length).toBeGreaterThan(15);
  expect(pages.filter((path) => !isSoft(path))).toEqual(["/traces/delete"]);
  expect(["/", "/traces-of", "/docs", "/device", "/api/traces", "/shared/x"].filter(isSoft)).toEqual([]);
});
