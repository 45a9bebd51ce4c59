import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { get, ingest, logIn, makeUser, post, provideOwnedServer } from "../support/server.ts";
import { bearer, expectProblem, sessionCookie } from "./client.ts";

const { server, token } = await provideOwnedServer();

type Line = { sourceId: string; messages: { position: number; content: string }[]; [field: string]: unknown };

const exported = async (query = "", as = token) => {
  const response = await get(server, `/api/traces/export${query}`, as);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("application/x-ndjson");
  const text = await response.text();
  expect(text === "" || text.endsWith("\n")).toBe(true);
  const lines = text.split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Line);
};

const full = {
  source: "codex-cli",
  sourceId: "full",
  model: "m",
  title: "T",
  project: "p",
  createdAt: "2026-11-01T10:00:00.123+02:00",
  metadata: { z: 1e21, a: [null, true, -0.5, "\u2028"], nested: { 10: "x", 9: "y" } },
  cwd: "/tmp",
  messages: [
    { position: 9, content: 'second\n"quoted" \\u0041', role: "assistant", tokenCount: 0, metadata: {} },
    { position: 3, content: "first \u{1f600}", role: "user", createdAt: "2026-11-01T08:00:01Z", extra: { k: [] } },
    { position: 4, content: "" },
  ],
};
const long = {
  sourceId: "long",
  messages: Array.from({ length: 1201 }, (_, position) => ({ position, content: `message ${position}` })),
};
const many = Array.from({ length: 230 }, (_, n) => ({
  sourceId: `many-${n}`,
  createdAt: `2026-10-01T00:00:0${n % 3}Z`,
  messages: n % 2 ? [{ position: 0, role: "user", content: `Title of ${n}` }] : [],
}));

test("an export has a line for each trace with all of its messages, and ingesting it again leaves it unchanged", async () => {
  await ingest(server, token, [full, long, ...many]);
  const lines = await exported();
  expect(lines).toHaveLength(232);
  expect(new Set(lines.map(({ sourceId }) => sourceId)).size).toBe(232);
  const positions = (sourceId: string) =>
    lines.find((line) => line.sourceId === sourceId)?.messages.map(({ position }) => position);
  expect(positions("full")).toEqual([3, 4, 9]);
  expect(positions("long")).toEqual(long.messages.map(({ position }) => position));
  const again = await ingest(server, token, lines);
  expect(again).toMatchObject({ traces: { received: 232, unchanged: 232 }, messages: { received: 1319, written: 0 } });
});

test("an export imported into another account gives the same export", async () => {
  const other = await logIn(server, await makeUser({ name: "Bob", email: "bob@example.org", password: "" }));
  const lines = await exported();
  expect(await ingest(server, other, lines)).toMatchObject({ traces: { created: 232 } });
  const byId = (a: Line, b: Line) => (a.sourceId < b.sourceId ? -1 : 1);
  expect((await exported("", other)).toSorted(byId)).toEqual(lines.toSorted(byId));
});

test("an export of sanitized text is unchanged when ingested again, and stays flagged", async () => {
  const mended = { source: "mended", sourceId: "mended", messages: [{ position: 0, content: "a\0b" }] };
  await ingest(server, token, [mended]);
  const lines = await exported("?source=mended");
  expect(lines).toMatchObject([{ messages: [{ content: "a\ufffdb" }] }]);
  expect(await ingest(server, token, lines)).toMatchObject({ traces: { unchanged: 1 }, messages: { written: 0 } });
  const list = await (await get(server, "/api/traces?source=mended", token)).json();
  expect(list).toMatchObject({ traces: [{ sanitized: true }] });
});

test("an export accepts the filters of the list, and a cookie", async () => {
  expect((await exported("?source=codex-cli&project=p")).map(({ sourceId }) => sourceId)).toEqual(["full"]);
  expect(await exported("?source=nobody")).toEqual([]);
  await expectProblem(await get(server, "/api/traces/export?from=x", token), 400, "invalid_request");
  const headers = { Cookie: await sessionCookie(server) };
  const response = await fetch(`${server.url}/api/traces/export?project=p`, { headers });
  expect((await response.text()).split("\n")).toHaveLength(2);
});

test("an export that fails breaks the connection: so that no client considers it complete", async () => {
  const large = Array.from({ length: 24 }, (_, n) => ({
    source: "broken-off",
    sourceId: String(n),
    messages: [{ position: 0, content: randomBytes(500_000).toString("hex") }],
  }));
  await ingest(server, token, large);
  // Compressed, half of it would be under way.
  const headers = { ...bearer(token), "Accept-Encoding": "identity" };
  const response = await fetch(`${server.url}/api/traces/export?source=broken-off`, { headers });
  const reader = response.body?.getReader();
  await reader?.read();
  // More is under way than connections hold, so that the server still has some of it to read.
  await pool().query("update trace set deleted_at = now() where source = 'broken-off'");
  await pool().query("delete from message where trace_id in (select id from trace where source = 'broken-off')");
  const rest = async () => {
    while (!(await reader?.read())?.done);
  };
  await expect(rest()).rejects.toThrow();
});

test("the server continues after a client aborts an export", async () => {
  for (let n = 0; n < 20; n++) {
    const controller = new AbortController();
    const response = await fetch(`${server.url}/api/traces/export`, {
      headers: bearer(token),
      signal: controller.signal,
    });
    await response.body?.getReader().read();
    controller.abort();
  }
  expect(await exported("?project=p")).toHaveLength(1);
  expect((await post(server, "/api/ingest", { traces: [] }, bearer(token))).status).toBe(202);
});

test("an export for others has no secrets and no names of people, in short messages and long ones", async () => {
  const key = ["ghp", "_", "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2"].join("");
  await ingest(server, token, [
    {
      ...{ sourceId: "shown", title: "in /home/grace/api", metadata: { cwd: "/home/grace/api" } },
      messages: [
        { position: 0, content: 'password: "Tr0ub4dor&3x" in /home/grace/api', metadata: { input: `x ${key}` } },
        { position: 1, content: `${"long text ".repeat(150_000)}password: "Tr0ub4dor&3x" of /home/grace` },
        { position: 2, content: "short", metadata: { out: `${"long ".repeat(300_000)}password: "Tr0ub4dor&3x"` } },
        { position: 3, content: "named", metadata: { changes: { "/home/grace/a": 1, 'password: "Tr0ub4dor&3x"': 2 } } },
        { position: 4, content: "told by its name", metadata: { password: "Tr0ub4dor&3x" } },
      ],
    },
  ]);
  const { rows } = await pool().query("select id from trace where source_id = 'shown'");
  const id = rows[0].id as string;
  for (const path of [`export?id=${id}&`, `${id}/export.json?`, `${id}/export.md?`]) {
    const plain = await (await get(server, `/api/traces/${path}`, token)).text();
    const [secrets, all] = await Promise.all(
      ["secrets", "all"].map(async (masked) => {
        const answer = await get(server, `/api/traces/${path}masked=${masked}`, token);
        expect(answer.status).toBe(200);
        const text = await answer.text();
        if (!path.includes(".md")) expect(JSON.parse(text).messages).toHaveLength(5);
        return text;
      }),
    );
    const has = (text = "") => ["Tr0ub4dor", "grace", "[redacted:assignment]"].map((one) => text.includes(one));
    expect([plain, secrets, all].map(has), path).toEqual([
      [true, true, false],
      [false, true, true],
      [false, false, true],
    ]);
  }
});
