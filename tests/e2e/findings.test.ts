import { expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { createTokenByHand } from "#lib/auth/tokens";
import { pool } from "#lib/db/client";
import { expectGoodLook, widths } from "../support/look.ts";
import { operatorSecret, owner, post } from "../support/server.ts";
import { formed } from "../unit/secrets/made-up.ts";
import { provideSignedIn, trail } from "./signed-in.ts";

const { server, userId, page, faults, button, open } = await provideSignedIn();
const token = await createTokenByHand(userId, "ada-laptop", operator);
/** There is no worker: what is to be masked waits until the test says so. */
const work = () => post(server, "/api/cron", "", { Authorization: `Bearer ${operatorSecret}` });

const send = async (...traces: object[]) => {
  expect((await post(server, "/api/ingest", { traces }, { Authorization: `Bearer ${token}` })).status).toBe(202);
  await work();
};

const github = formed.find(([id]) => id === "github")?.[1] ?? "";
const [first, second, third] = ["Tr0ub4dorx3zyx9", "kx9vQ2mZ7pLd41", "W1nterIsHere77"];
const session = (sourceId: string, ...contents: string[]) => ({
  ...{ sourceId, title: `About ${sourceId}`, project: "api", createdAt: new Date().toISOString() },
  messages: contents.map((content, position) => ({ position, content, role: "user" })),
});

const items = () => page.getByRole("list", { name: "Secrets" }).getByRole("listitem");
const states = () => items().evaluateAll((all) => all.map((one) => one.querySelectorAll("span")[1]?.textContent));
const of = (title: string) => items().filter({ hasText: title });
const contents = async () => (await pool().query("select content from message")).rows.map(({ content }) => content);

test("secrets are listed, masked here and everywhere, and kept, by pressing", async () => {
  await open("/findings");
  await page.getByText("No secrets found.").waitFor();
  await send(
    session("one", `password: "${first}"`, `GITHUB_TOKEN=${github}`),
    session("two", `password: "${first}"`, `password: "${second}"`),
    session("three", `password: "${third}"`),
  );
  await pool().query("update trace set ledger_due = true");
  await open("/findings");
  await page.getByText("3 sessions still to be searched.").waitFor();
  await work();
  await open("/findings");
  await expect.poll(states).toHaveLength(5);
  expect(await page.content()).not.toContain(first);

  await open("/findings?state=open");
  await of("About three").getByRole("button", { name: "Not a secret" }).click();
  await expect.poll(() => of("About three").count()).toBe(0);

  const here = of("About two").first();
  await here.getByRole("button", { name: "Mask here" }).click();
  await here.getByText("Mask it in this session?").waitFor();
  await here.getByRole("button", { name: "Cancel" }).click();
  const everywhere = of("About one");
  await everywhere.getByRole("button", { name: "Mask everywhere" }).click();
  await everywhere.getByText("Mask it in all sessions, now and in future?").waitFor();
  await everywhere.getByRole("button", { name: "Mask everywhere" }).click();
  await expect.poll(() => of("About one").count()).toBe(0);
  const rest = of("About two");
  await expect.poll(() => rest.count()).toBe(1);
  await rest.getByRole("button", { name: "Mask here" }).click();
  await rest.getByText("Mask it in this session?").waitFor();
  await rest.getByRole("button", { name: "Mask here" }).click();
  await page.getByText("No secrets match these filters.").waitFor();
  await page.getByText("2 sessions being masked.").waitFor();
  await work();
  expect((await contents()).join("\n")).not.toMatch(new RegExp(`${first}|${second}|${github}`));
  expect((await contents()).join("\n")).toContain(third);
  expect(await trail(owner.email)).toEqual(expect.arrayContaining(["secret_masked", "secret_kept"]));
  expect(faults).toEqual([]);
});

test("the list is narrowed by kind, age, project and session, and shows all again", async () => {
  const { rows } = await pool().query("select id from trace where source_id = 'one'");
  await open(`/findings?session=${rows[0].id}`);
  await expect.poll(() => items().count()).toBe(2);
  await page.getByText("Only the session “About one”.").waitFor();
  await page.getByLabel("Kind", { exact: true }).selectOption("github");
  await page.getByLabel("Age", { exact: true }).selectOption("7");
  await button("Show").click();
  await expect.poll(() => items().count()).toBe(1);
  await page.getByText("Rotate it: github.com/settings/tokens").waitFor();
  const chosen = ["Kind", "Age"].map((name) => page.getByLabel(name, { exact: true }).inputValue());
  expect(await Promise.all(chosen)).toEqual(["github", "7"]);
  await open("/findings");
  await items().getByRole("link", { name: "api", exact: true }).first().click();
  await page.getByText("Only the project api.").waitFor();
  await page.getByRole("link", { name: "Show all" }).click();
  await page.waitForURL(`${server.url}/findings`);
  expect(faults).toEqual([]);
});

test("masking is stopped after a question, in a project or everywhere, and begun again", async () => {
  const masks = async () => (await pool().query("select masks from secret_policy")).rows.map((row) => row.masks);
  const dialog = page.getByRole("dialog", { name: "Stop masking?" });
  await open("/findings");
  await button("Stop masking").click();
  await dialog.getByText("New secrets will be stored unmasked").waitFor();
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 });
    await expectGoodLook(page, "findings-stop");
  }
  await dialog.getByRole("link", { name: "Keep masking" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await masks()).not.toContain(false);

  await items().getByRole("link", { name: "api", exact: true }).first().click();
  await page.getByText("Only the project api.").waitFor();
  await button("Stop masking").click();
  expect(await dialog.getByLabel("Where").locator("option:checked").textContent()).toBe("This project: api");
  await dialog.getByRole("button", { name: "Stop masking" }).click();
  await page.getByText(/^Nothing is masked in api until /).waitFor();
  await button("Mask again").click();
  await page.getByText(/^Nothing is masked in api/).waitFor({ state: "detached" });

  await button("Stop masking").click();
  await dialog.getByLabel("Where").selectOption("");
  await dialog.getByLabel("Until I turn it on").check();
  await dialog.getByRole("button", { name: "Stop masking" }).click();
  await page.getByText("Nothing is masked. Secrets are stored unmasked").waitFor();
  await button("Mask secrets").click();
  await button("Stop masking").waitFor();
  expect(await masks()).toEqual([true]);
  expect(faults).toEqual([]);
});

test("what came while masking was stopped is masked in one go", async () => {
  await open("/findings?stop=1");
  const dialog = page.getByRole("dialog", { name: "Stop masking?" });
  await dialog.getByRole("button", { name: "Stop masking" }).click();
  await page.getByText(/^Nothing is masked until /).waitFor();
  await button("Mask secrets").waitFor();
  await send(session("open", `GITHUB_TOKEN=${github}`));
  expect((await contents()).join("\n")).toContain(github);
  await open("/findings");
  await page.getByText("1 definite secret is stored unmasked.").waitFor();
  await button("Mask all of them").click();
  await page.getByText("Mask all of them in all sessions?").waitFor();
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 });
    await expectGoodLook(page, "findings", { fullPage: true });
  }
  await button("Mask all of them").click();
  await button("Stop masking").waitFor();
  await work();
  expect((await contents()).join("\n")).not.toContain(github);
  expect(faults).toEqual([]);
});
