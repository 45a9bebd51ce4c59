import { expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { recordTelemetry } from "#lib/telemetry/record";
import { telemetryRequest } from "#lib/telemetry/schema";
import { disableSink } from "#lib/telemetry/sink";
import { signIn } from "../support/browser.ts";
import { expectGoodLook, widths } from "../support/look.ts";
import { makeUser, owner } from "../support/server.ts";
import { provideSignedIn } from "./signed-in.ts";

const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const sink = { kind: "webhook", url: "http://127.0.0.1:1/hook", key: secret, allowPrivate: false } as const;
const { server, browser, page, faults, stranger, open } = await provideSignedIn({
  TELEMETRY_SINK: sink.kind,
  TELEMETRY_SINK_URL: sink.url,
  TELEMETRY_SINK_KEY: sink.key,
});

const scan = { schema: 1, cliVersion: "1.4.2", platform: "linux", arch: "x64", command: "scan" };
const submit = (
  deviceId: string,
  diagnostics: object[],
  cliVersion: string,
  of?: { userId: string; machine: string },
) => recordTelemetry(telemetryRequest.parse({ ...scan, deviceId, cliVersion, diagnostics }), of);

const userId = async () =>
  (await pool().query<{ id: string }>(`select id from "user" where role = 'owner'`)).rows[0]?.id;
const hostile = "\u202eevil\u0001<script>alert(1)</script>".padEnd(64, "x");

/** Weeks of scans: an adapter that broke with the last version, one that got worse, a healthy one, and a hostile one. */
async function fill() {
  const ada = { userId: (await userId()) ?? "", machine: "ada-laptop" };
  const codex = (skippedEntries: number) => ({ adapter: "codex", totalEntries: 1000, skippedEntries });
  const well = { adapter: "claude-code", totalEntries: 4000, skippedEntries: 2280, traceCount: 40 };
  for (let day = 0; day < 20; day += 1) {
    await submit("ada", [well, codex(day), { adapter: "gemini-cli", totalEntries: 500 }], "1.4.1", ada);
    // In two steps: a row must never stand on the day of one that is still to be moved.
    await pool().query("update diagnostic_day set day = day + 10000");
    await pool().query("update diagnostic_day set day = day - 10001");
  }
  const broken = { adapter: "codex", emptyParse: true, unhandledTypes: ["compacted", "turn_context"] };
  const worse = { adapter: "gemini-cli", totalEntries: 500, invalidEntries: 25, unhandledTypes: ["tool_call.v2"] };
  for (const deviceId of ["ada", "build-server-7f3a90b2c4d5", "tablet"]) {
    await submit(deviceId, [well, broken, worse], "1.4.2", deviceId === "ada" ? ada : undefined);
  }
  await submit(
    hostile,
    [{ adapter: hostile, unhandledTypes: [hostile, ""], invalidEntries: 2 ** 53 - 1 }],
    "x".repeat(32),
  );
}

async function looksRight(name: string) {
  for (const width of widths) {
    const context = await browser.newContext({ viewport: { width, height: 800 } });
    const tab = await context.newPage();
    await signIn(tab, server, owner);
    await open("/diagnostics", tab);
    await expectGoodLook(tab, `diagnostics-${name}`, { fullPage: true });
    for (const summary of await tab.locator("main summary").all()) await summary.click();
    await expectGoodLook(tab, `diagnostics-${name}-open`, { fullPage: true });
    await context.close();
  }
}

test("without telemetry the page says what is sent and what is not, and updates automatically", async () => {
  await open("/diagnostics");
  await page.getByText("No client has reported a scan yet.").waitFor();
  const scan = `curl -fsSO ${server.url}/spoor.mjs &&\nnode spoor.mjs login &&\nnode spoor.mjs scan`;
  expect(await page.locator("main pre").first().textContent()).toBe(scan);
  await page.getByText(/^curl -sS .*\/api\/cli\/telemetry/).waitFor();
  await page.getByText("Never leaves the machine").waitFor();
  await looksRight("empty");
  await page.clock.install();
  await open("/diagnostics");
  await submit("first", [{ adapter: "first-adapter" }], "1.0.0");
  await page.clock.fastForward(5000);
  await page.getByText("first-adapter").waitFor();
  await pool().query("delete from telemetry_device");
  await pool().query("delete from diagnostic_day");
  expect(faults).toEqual([]);
}, 120_000);

test("shows what broke with the last version, with details of versions, types and machines", async () => {
  await fill();
  await open("/diagnostics");
  const listed = page.getByRole("list", { name: "What got worse" }).getByRole("listitem");
  expect(await listed.allTextContents()).toEqual([
    "codex broke with 1.4.2: 100% of the scans found nothing (1.4.1: 0%).",
    "gemini-cli got worse with 1.4.2: 5% of the entries could not be read (1.4.1: 0%).",
  ]);
  const rows = page.getByRole("list", { name: "Adapters" }).locator("> li");
  expect(await rows.count()).toBe(4);
  const codex = rows.first();
  await codex.locator("summary").focus();
  await page.keyboard.press("Enter");
  await codex.getByText("turn_context").last().waitFor();
  await codex.getByText("build-server-7f3a90b2c4d5").waitFor();
  await codex.getByText("ada-laptop").waitFor();
  const version = codex.getByRole("row", { name: /^1\.4\.2/ });
  expect(await version.getByRole("cell").allTextContents()).toEqual(["3", "0", "0%", "0%", "0", "3", "3"]);
  const well = rows.filter({ hasText: "claude-code" });
  expect(await well.locator("summary").innerText()).not.toMatch(/57%|lost/);
  await well.locator("summary").click();
  const skipped = well.getByRole("row", { name: /^1\.4\.2/ }).getByRole("cell", { name: "57%" });
  expect(await skipped.getAttribute("class")).toContain("text-muted");
  await well.getByText(/Skipped: entries that belong to no message; nothing of them is lost/).waitFor();
  await codex.getByRole("img", { name: /Worst of each day: 0% at first, 100% at last, at most 100%/ }).waitFor();
  expect(await page.getByRole("list", { name: "Clients" }).locator("> li").count()).toBe(4);
  expect(await page.locator("main").textContent()).not.toContain("\u202e");
  expect(faults).toEqual([]);
});

test("every state is accessible and fits, also with hostile names", async () => {
  await looksRight("full");
}, 120_000);

test("a member sees only their own devices, and nothing about the sink", async () => {
  await disableSink(sink);
  const bob = { name: "Bob", email: "bob@example.org", password: "correct horse battery" };
  const id = await makeUser(bob);
  await pool().query(
    `insert into account (user_id, account_id, provider_id, password)
     select $1::uuid, $1::text, 'credential', password from account limit 1`,
    [id],
  );
  const tab = await stranger();
  await signIn(tab, server, bob);
  await open("/diagnostics", tab);
  await tab.getByText("No client has reported a scan yet.").waitFor();
  await submit("bobs-device", [{ adapter: "codex" }], "1.4.2", { userId: id, machine: "bob-laptop" });
  await open("/diagnostics", tab);
  await tab.getByText("bob-laptop").first().waitFor();
  expect(await tab.getByRole("list", { name: "Clients" }).locator("> li").count()).toBe(1);
  expect(await tab.getByText("not forwarded").count()).toBe(0);
  await tab.context().close();
});

test("the owner sees that the sink is gone, and what to do", async () => {
  await open("/diagnostics");
  await page.getByText(/Telemetry has not been forwarded since .* the sink answered 410/).waitFor();
  await looksRight("sink-gone");
  expect(faults).toEqual([]);
}, 120_000);

test("a signed-out visitor is sent to sign in, and then back", async () => {
  const tab = await stranger();
  await tab.goto(`${server.url}/diagnostics`);
  expect(tab.url()).toBe(`${server.url}/sign-in?next=%2Fdiagnostics`);
  await tab.context().close();
});
