import { expect, test } from "vitest";
import { provideSignedIn } from "./signed-in.ts";

const { server, page, faults, open } = await provideSignedIn();
await page.context().grantPermissions(["clipboard-write"]);

test("the API's page shows its reference with and without script, and copies a command", async () => {
  await open("/docs");
  const entry = page.locator("section#post-ingest");
  const command = await entry.locator("pre").first().textContent();
  expect(command).toContain(`BASE=${server.url}`);
  await entry.getByRole("button", { name: "Copy" }).click();
  await entry.getByRole("button", { name: "Copied" }).waitFor();
  await entry.getByRole("button", { name: "Copy", exact: true }).waitFor();
  expect(faults).toEqual([]);
  const plain = await (await fetch(`${server.url}/docs`)).text();
  expect(plain).toContain('<section id="post-ingest"');
});
