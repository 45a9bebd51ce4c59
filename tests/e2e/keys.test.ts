import { expect, test, vi } from "vitest";
import { provideSignedIn } from "./signed-in.ts";

const { server, page, faults, open, button } = await provideSignedIn();

// A page has loaded before its script listens, so keys are pressed until it does.
const patience = { interval: 500, timeout: 30_000 };

/** Presses keys and waits for the page that they lead to. */
async function pressTo(path: string, ...keys: string[]) {
  const press = async () => {
    for (const key of keys) await page.keyboard.press(key);
    await page.waitForURL(server.url + path, { timeout: 400 });
  };
  await vi.waitFor(press, patience);
}

/** Opens the help, which takes no further keys. */
async function askForHelp() {
  const press = () => page.keyboard.press("?").then(() => help().isVisible());
  await expect.poll(press, patience).toBe(true);
}

const help = () => page.getByRole("dialog", { name: "Keys" });

test("g and a letter lead to each page, and ? says which; the help gives the focus back", async () => {
  await open("/traces");
  await pressTo("/uploads", "g", "u");
  await pressTo("/traces", "g", "t");
  await button("Sign out").waitFor({ state: "hidden" });
  await page.locator("header summary").focus();
  await askForHelp();
  expect(await help().textContent()).toMatch(/Everywhere[\s\S]*Uploads/);
  await page.keyboard.press("g");
  await page.keyboard.press("u");
  await page.keyboard.press("Escape");
  await help().waitFor({ state: "hidden" });
  expect(await page.evaluate("document.activeElement.tagName")).toBe("SUMMARY");
  expect(page.url()).toBe(`${server.url}/traces`);
  expect(faults).toEqual([]);
});

test("Escape closes the menu and its opener has the focus; keys typed into a field are text", async () => {
  await open("/devices");
  await page.locator("header summary").click();
  await page.getByRole("link", { name: "Settings" }).focus();
  await page.keyboard.press("Escape");
  await button("Sign out").waitFor({ state: "hidden" });
  expect(await page.evaluate("document.activeElement.tagName")).toBe("SUMMARY");
  const machine = page.getByLabel("Machine", { exact: true });
  await machine.fill("");
  await machine.press("g");
  await machine.press("u");
  await machine.press("?");
  expect(await machine.inputValue()).toBe("gu?");
  expect(page.url()).toBe(`${server.url}/devices`);
});

test("keys can be switched off, and on again", async () => {
  await open("/settings");
  const group = page.getByRole("group", { name: "Keyboard shortcuts" });
  await group.getByRole("button", { name: "Off" }).click();
  await group.locator("[aria-pressed=true]", { hasText: "Off" }).waitFor();
  await open("/traces");
  for (const key of ["?", "g", "u"]) await page.keyboard.press(key);
  expect(await help().count()).toBe(0);
  expect(page.url()).toBe(`${server.url}/traces`);
  await open("/settings");
  await group.getByRole("button", { name: "On", exact: true }).click();
  await group.locator("[aria-pressed=true]", { hasText: "On" }).waitFor();
  await askForHelp();
});

test("on a phone the links of the bar are in the menu's sheet", async () => {
  await page.setViewportSize({ width: 360, height: 740 });
  await open("/traces");
  const links = page.getByRole("navigation", { name: "Pages in the menu" });
  expect(await links.isVisible()).toBe(false);
  await page.locator("header summary").click();
  await links.getByRole("link", { name: "Devices" }).click();
  await page.waitForURL(`${server.url}/devices`);
  expect(await page.locator("header summary").textContent()).toContain("Devices");
});
