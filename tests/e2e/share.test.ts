import { expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool } from "#lib/db/client";
import { acceptBatch } from "#lib/ingest/accept/batch";
import { runJob } from "#lib/ingest/process/run-job";
import { wholeRange } from "#lib/masking/for-others";
import { shareTrace } from "#lib/shares/shares";
import { countCalls } from "../api/client.ts";
import { isLong } from "../support/long.ts";
import { owner } from "../support/server.ts";
import { ready } from "./reader-page.ts";
import { provideSignedIn, trail } from "./signed-in.ts";

const { server, userId, page, faults, stranger, open, button } = await provideSignedIn();

/** Uploads a session of user messages, with a tool's output after them. @returns its id */
async function upload(sourceId: string, contents: string[], output?: string): Promise<string> {
  const said = [
    ...contents.map((content) => ({ content, role: "user" })),
    ...(output ? [{ content: output, role: "tool" }] : []),
  ];
  const messages = said.map((one, position) => ({ ...one, position, metadata: { cwd: "/home/ada" } }));
  const trace = { sourceId, source: "codex", title: `Title of ${sourceId}`, project: "secret-project", messages };
  const caller = { userId, machine: "ada-laptop" };
  const body = Buffer.from(JSON.stringify({ traces: [trace] }));
  await runJob({ userId: caller.userId, jobId: await acceptBatch(caller, body, "identity", undefined) });
  const found = await pool().query("select id from trace where source_id = $1", [sourceId]);
  return found.rows[0].id;
}

/** Shares a session in the browser. @returns the link's path */
async function share(traceId: string, days = "7", query = ""): Promise<string> {
  await open(`/traces/${traceId}`);
  await page.getByRole("link", { name: /^Share/ }).click();
  await page.getByRole("heading", { name: /^Share: / }).waitFor();
  if (query) await open(`/traces/${traceId}/share?${query}`);
  await page.getByLabel("Valid for").selectOption(days);
  await button("Create link").click();
  const link = await page.locator("pre", { hasText: "/shared/" }).first().textContent();
  return new URL(String(link).trim()).pathname;
}

/** Shares a whole session for a week. @returns the link's path */
async function shareDirectly(traceId: string): Promise<string> {
  return new URL(await shareTrace(userId, traceId, { ...wholeRange, masked: false, days: 7 }, operator)).pathname;
}

const missing = "There is nothing here";

test("a shared session can be read without an account, and nothing else can", async () => {
  const traceId = await upload("one", ["first words", ...Array.from({ length: 120 }, (_, n) => `message ${n}`)]);
  const path = await share(traceId);
  const other = await stranger();
  const errors: string[] = [];
  other.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  const response = await other.goto(server.url + path);
  expect(response?.status()).toBe(200);
  expect(response?.headers()).toMatchObject({
    "x-robots-tag": "noindex, nofollow",
    "referrer-policy": "no-referrer",
    "cache-control": expect.stringContaining("no-store"),
    "content-security-policy": expect.stringContaining("frame-ancestors 'none'"),
  });
  await other.getByRole("heading", { name: "Title of one" }).waitFor();
  await other.locator(".messages").getByText("first words").waitFor();
  const html = await other.content();
  expect(html).toContain('<meta name="robots" content="noindex, nofollow"');
  for (const secret of ["ada@example.org", "ada-laptop", "secret-project", "/home/ada", traceId, owner.name])
    expect(html.includes(secret), secret).toBe(false);
  expect(
    await other.locator("a[href^='/traces'], a[href^='/settings'], a[href^='/api'], form:not([method=dialog])").count(),
  ).toBe(0);
  const metas = await other
    .locator("meta[name=referrer]")
    .evaluateAll((all) => all.map((one) => one.getAttribute("content")));
  expect(metas.at(-1)).toBe("no-referrer");
  // The same reader: the outline of all of it, the true end by a key, Talk, and a link to a message.
  await ready(other);
  expect(await other.getByRole("tab", { name: "Turns 121" }).count()).toBe(1);
  expect(await other.getByRole("button", { name: "Find" }).count()).toBe(0);
  await other.keyboard.press("End");
  await other.locator(".messages").getByText("message 119", { exact: true }).waitFor();
  await other.locator("[data-where]", { hasText: "turn 121 of 121" }).waitFor();
  // By key: the outline may still be scrolling to the last turn, under a pointer.
  await other.locator(".trail a").first().press("Enter");
  await other.locator(".messages").getByText("first words").waitFor();
  expect(new URL(other.url()).pathname).toBe(path);
  await other.goto(`${server.url}${path}?at=60&view=talk`);
  await expect.poll(() => other.locator("#m60[data-flash], #m60:focus").count()).toBe(1);
  expect(await other.locator("[data-view=talk]").count()).toBeGreaterThan(0);
  expect((await other.goto(`${server.url}/traces/${traceId}`))?.url()).toContain("/sign-in");
  expect(errors).toEqual([]);
  expect(faults).toEqual([]);
  expect((await trail(owner.email))[0]).toBe("share_created");
});

test("a long result is loaded with only the link, until it is revoked", async () => {
  const output = Array.from({ length: 600 }, (_, n) => `line ${n} of the output`).join("\n");
  const path = await shareDirectly(await upload("long", ["run it"], output));
  const elsewhere = await shareDirectly(await upload("short", ["x"]));
  const other = await stranger();
  await other.goto(server.url + path);
  const fold = other.locator("details[data-load] > summary").first();
  const [request] = await Promise.all([other.waitForRequest((one) => one.method() === "POST"), fold.click()]);
  await other.getByText("line 7 of the output").waitFor();
  // The link is counted by the path, so what the request holds has to be the same.
  const { "next-action": action = "", "content-type": type = "" } = request.headers();
  const again = async (to: string) => {
    const headers = { Origin: server.url, "Next-Action": action, "Content-Type": type };
    return (await fetch(server.url + to, { method: "POST", headers, body: request.postData() })).text();
  };
  expect(await again(path)).toContain("line 7 of the output");
  for (const to of [elsewhere, `/shared/${"A".repeat(32)}`, "/sign-in"]) {
    expect([to, await again(to)]).not.toEqual([to, expect.stringContaining("line 7 of the output")]);
  }
  await pool().query("update trace_share set revoked_at = now()");
  await fold.click();
  await other.reload();
  await other.getByText(missing).waitFor();
});

test("a turn is shared as its preview shows it: no other message, no secret and no home folder, also not in what loads", async () => {
  const key = ["ghp", "_", "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2"].join("");
  const output = Array.from({ length: 600 }, (_, n) => `line ${n} /home/ada/x ${key}`).join("\n");
  const said = ["Zeroth secret-word", "First, with @someone", `Second ${key} in /home/ada/api`];
  // Who lets secrets be stored as they came has them masked for others all the same.
  await pool().query(`insert into secret_policy (user_id, masks) select id, false from "user" limit 1`);
  const traceId = await upload("part", said, output);
  await open(`/traces/${traceId}`);
  await page.locator("#m1").hover();
  await page.getByRole("link", { name: "Message 1: share its turn" }).click();
  await page.locator("section article").getByText("First, with @someone").waitFor();
  expect(await page.getByLabel("To the end of turn").locator("option:checked").textContent()).toContain("2. First");
  for (const [at, key, address] of [
    [2, "S", /share\?from=2$/],
    [1, "s", /share\?turn=1$/],
  ] as const) {
    await open(`/traces/${traceId}?at=${at}`);
    await ready(page);
    await expect.poll(() => page.locator(`#m${at}:focus`).count()).toBe(1);
    await page.keyboard.press(key);
    await page.waitForURL(address);
  }
  const alone = await page.getByRole("region", { name: "What others will see" }).textContent();
  expect(alone).not.toMatch(/Zeroth|Second/);
  await page.getByLabel("To the end of turn").selectOption({ label: "End (keeps updating)" });
  await page.getByLabel("From turn").selectOption({ label: "2. First, with @someone" });
  await button("Show").click();
  await page.waitForURL(/from=1/);
  const preview = page.getByRole("region", { name: "What others will see" });
  await preview.getByText("Second [redacted:github] in ~/api").waitFor();
  expect(await preview.textContent()).not.toContain("Zeroth");
  await page.getByRole("list", { name: "Secrets that were found" }).getByText("601 × github").waitFor();
  await preview.locator("details[data-load] > summary").first().click();
  await preview.getByText("line 7 ~/x [redacted:github]").waitFor();
  expect(faults).toEqual([]);
  const path = await share(traceId, "7", "from=1");
  const other = await stranger();
  const html = (await (await other.goto(`${server.url}${path}`))?.text()) ?? "";
  for (const word of ["Zeroth", key, "/home/ada"]) expect(html.includes(word), word).toBe(false);
  expect(html).toContain("<title>First, with @someone · Spoor</title>");
  const fold = other.locator("details[data-load]").first();
  const asked = other.waitForRequest((one) => one.method() === "POST");
  await fold.locator("summary").click();
  await other.getByText("line 7 ~/x [redacted:github]").waitFor();
  // What is outside of the range is not there for whoever asks for it, either.
  const { "next-action": action = "", "content-type": type = "" } = (await asked).headers();
  const body = ((await asked).postData() ?? "")
    .replace(/"position":\d+/, '"position":0')
    .replace(/"positions":\[\d+\]/, '"positions":[0]');
  const headers = { Origin: server.url, "Next-Action": action, "Content-Type": type };
  const answer = await (await fetch(server.url + path, { method: "POST", headers, body })).text();
  expect(answer).not.toContain("Zeroth");
  for (const query of ["at=0", "before=1", "before=2"])
    expect(await (await fetch(`${server.url}${path}?${query}`)).text()).not.toContain("Zeroth");
  await other.reload();
  await other.getByText("line 7 ~/x [redacted:github]").waitFor();
  expect(await fold.getAttribute("open")).not.toBe(null);
  const markdown = async (query: string) =>
    (await page.request.get(`${server.url}/api/traces/${traceId}/export.md?for=github${query}`)).text();
  const text = await markdown("&from=1");
  expect(text).toContain("> First, with @<!-- -->someone");
  expect(text).toContain("> Second [redacted:github] in ~/api");
  for (const word of ["Zeroth", key, "/home/ada"]) expect(text.includes(word), word).toBe(false);
  expect(await markdown("&to=0")).toMatch(/^### Zeroth secret-word\n\n\*\*User:\*\*\n\n> Zeroth secret-word\n$/);
  expect(await markdown("&plain=1")).toContain(key);
});

test("a shared session leads to no sub-agent, and not to the session that started it", async () => {
  const [starter, agent] = [await upload("starter", ["Begin", "Report"]), await upload("starter/agent-a", ["Task"])];
  await pool().query(
    "update trace set parent_id = $1, parent_relation = 'subagent', parent_position = 1 where id = $2",
    [starter, agent],
  );
  const result = { result: { callId: "c", session: "starter/agent-a" } };
  await pool().query("update message set role = 'tool', metadata = $2 where trace_id = $1 and position = 1", [
    starter,
    result,
  ]);
  await open(`/traces/${starter}`);
  await page.getByRole("link", { name: "Its session · 1 message" }).waitFor();
  const other = await stranger();
  for (const [shared, hidden, name] of [
    [starter, agent, "Title of starter/agent-a"],
    [agent, starter, "Title of starter<"],
  ] as const) {
    const html = (await (await other.goto(server.url + (await shareDirectly(shared))))?.text()) ?? "";
    expect(html).toContain(shared === starter ? "Report" : "Task");
    for (const word of [hidden, name, "Its session", "Sub-agent of", "/traces/"]) expect(html).not.toContain(word);
  }
});

test("only the link's hash is stored", async () => {
  const path = await shareDirectly(await upload("hash", ["x"]));
  const token = path.split("/").at(-1) ?? "";
  const { rows } = await pool().query("select * from trace_share");
  expect(JSON.stringify(rows).includes(token)).toBe(false);
  expect(rows.map(({ hash }) => Buffer.from(hash).length)).toEqual(rows.map(() => 32));
});

test("unknown, expired and revoked links and those to deleted sessions get the same answer", async () => {
  const traceId = await upload("two", ["words of two"]);
  const [expired, revoked, deleted] = [
    await share(traceId, "1"),
    await share(traceId, "never"),
    await shareDirectly(await upload("three", ["x"])),
  ];
  const other = await stranger();
  expect((await other.goto(server.url + revoked))?.status()).toBe(200);
  await open("/settings/shares");
  const row = page.getByRole("listitem").filter({ hasText: "Title of two" }).filter({ hasText: "until revoked" });
  await row.getByRole("button", { name: "Revoke" }).click();
  await row.getByText("Revoke this link to Title of two?").waitFor();
  expect((await other.goto(server.url + revoked))?.status()).toBe(200);
  await row.getByRole("button", { name: "Revoke" }).click();
  await row.waitFor({ state: "detached" });
  expect((await trail(owner.email))[0]).toBe("share_revoked");
  await pool().query("update trace_share set expires_at = now() where expires_at < now() + interval '25 hours'");
  await open(`/traces/${(await pool().query("select id from trace where source_id = 'three'")).rows[0].id}?delete=1`);
  await button("Delete").click();
  await page.waitForURL(`${server.url}/traces`);
  const bodies = new Set<string>();
  for (const path of [expired, revoked, deleted, `/shared/${"A".repeat(32)}`, "/shared/x"]) {
    const response = await other.goto(server.url + path);
    expect(response?.status(), path).toBe(404);
    expect(response?.headers()["x-robots-tag"]).toBe("noindex, nofollow");
    bodies.add(String(await other.locator("main").textContent()));
  }
  expect([...bodies]).toHaveLength(1);
  expect([...bodies][0]).toContain(missing);
  expect([...bodies][0]).toContain("ask whoever gave it to you for a new one");
});

test("robots.txt keeps no robot from a page, where it is told not to index it", async () => {
  const robots = await (await fetch(`${server.url}/robots.txt`)).text();
  const closed = [...robots.matchAll(/^Disallow: *(\S*)/gm)].map(([, path = ""]) => path);
  expect(closed).toEqual(["/api/"]);
  for (const page of [await shareDirectly(await upload("robots", ["x"])), "/", "/sign-in", "/docs", "/nothing"]) {
    const { headers } = await fetch(server.url + page, { redirect: "manual" });
    expect([page, headers.get("x-robots-tag")]).toEqual([page, "noindex, nofollow"]);
  }
});

test("a network that tried many wrong links gets nothing for a while, whatever AUTH_RATE_LIMIT says", async () => {
  const path = await shareDirectly(await upload("four", ["x"]));
  const ask = async (link: string) =>
    (await fetch(server.url + link, { headers: { "X-Forwarded-For": "203.0.113.9" } })).status;
  expect(await ask(path)).toBe(200);
  const tries = Array.from({ length: isLong ? 60 : 5 }, (_, n) => `/shared/${String(n).padStart(32, "x")}`);
  for (const wrong of tries) expect(await ask(wrong)).toBe(404);
  if (!isLong) await countCalls("share:203.0.113.9", 55);
  expect(await ask(path)).toBe(200);
  expect(await ask("/shared/x")).toBe(404);
  expect(await ask(path)).toBe(404);
  expect((await fetch(server.url + path, { headers: { "X-Forwarded-For": "203.0.113.10" } })).status).toBe(200);
});
