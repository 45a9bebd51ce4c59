import { expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { provideSignedIn } from "./signed-in.ts";

const { page, open } = await provideSignedIn();

test("a page that fails shows the id of its request, and so does a page that does not exist", async () => {
  await pool().query("alter table trace rename to trace_away");
  const failed = await open("/traces");
  await page.getByText("This page could not be shown").waitFor();
  const failedId = failed?.headers()["x-request-id"] ?? "";
  expect(failedId).toMatch(/^[0-9a-f-]{36}$/);
  await page.getByText(failedId, { exact: true }).waitFor();
  await pool().query("alter table trace_away rename to trace");

  const missing = await open("/nothing");
  expect(missing?.status()).toBe(404);
  await page.getByText(missing?.headers()["x-request-id"] ?? "", { exact: true }).waitFor();
});
