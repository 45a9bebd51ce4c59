import { expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { fingerprint, getManifest, makePart, recipient } from "../support/parts.ts";
import { ingest, logIn, owner } from "../support/server.ts";
import { provideSignedIn, trail } from "./signed-in.ts";

const { server, userId, page, faults, open } = await provideSignedIn({}, true);
const token = await logIn(server, userId, "tower", ["ingest", "originals"]);

const put = (path: string, type: string, body: BodyInit) =>
  fetch(server.url + path, {
    method: "PUT",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": type, "If-None-Match": "*" },
    body,
  });

const shown = `${fingerprint.slice(0, 4)} ${fingerprint.slice(4)}`;

test("a session says which copy there is, and deletes it after a question; the settings name key, bytes and machines", async () => {
  await open("/settings");
  expect(await page.getByRole("heading", { name: "Exact copies" }).count()).toBe(1);
  await page.getByText("tower").waitFor();
  expect(await page.getByRole("link", { name: "Export exact copies" }).count()).toBe(0);
  const session = { source: "claude-code", sourceId: "s1", title: "Retry the upload" };
  await ingest(server, token, [{ ...session, messages: [{ position: 0, role: "user", content: "hello" }] }]);
  const { rows } = await pool().query("select id from trace");
  const traceId = String(rows[0].id);
  await open(`/traces/${traceId}`);
  await page.getByRole("link", { name: "Share", exact: true }).waitFor();
  expect(await page.getByText("Exact copy").count()).toBe(0);

  const part = makePart(250_000);
  await put("/api/originals/key", "application/json", JSON.stringify({ recipient }));
  await put(`/api/originals/parts/${part.sha256}`, "application/octet-stream", part.bytes);
  const manifest = { ...getManifest(part), files: 3 };
  expect((await put("/api/originals/claude-code/s1", "application/json", JSON.stringify(manifest))).status).toBe(201);

  await open("/settings");
  const section = page.getByRole("region", { name: "Exact copies" });
  for (const text of [shown, "1 session, 250 KB", "tower"]) await section.getByText(text).first().waitFor();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    section.getByRole("link", { name: "Export exact copies" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("spoor-originals.tar");

  await open(`/traces/${traceId}`);
  const line = page.locator("#exact-copy");
  await line.getByText("3 files").waitFor();
  expect(await line.textContent()).toMatch(new RegExp(`^Exact copy: 3 files, \\d+ (s|min) ago, key ${shown}$`));
  const remove = page.getByRole("button", { name: "Delete copy" });
  await remove.click();
  await page.getByText("Delete the exact copy?").waitFor();
  await remove.click();
  await line.waitFor({ state: "detached" });
  const left = await pool().query("select 1 from original");
  expect(left.rowCount).toBe(0);
  expect((await trail(owner.email))[0]).toBe("original_deleted");
  expect(await page.getByRole("heading", { name: "Retry the upload" }).count()).toBeGreaterThan(0);
  expect(faults).toEqual([]);
});
