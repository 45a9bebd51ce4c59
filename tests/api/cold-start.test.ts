import { expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { post, provideOwnedServer } from "../support/server.ts";

const { server, token } = await provideOwnedServer({ worker: false });

test("sixty simultaneous uploads to a server that has just started are all accepted", async () => {
  const headers = { Authorization: `Bearer ${token}` };
  const uploads = Array.from({ length: 60 }, (_, n) => ({ traces: [{ sourceId: `cold-${n}`, messages: [] }] }));
  const answers = await Promise.all(uploads.map((body) => post(server, "/api/ingest", body, headers)));
  expect(answers.map(({ status }) => status)).toEqual(uploads.map(() => 202));
  const { rows } = await pool().query("select count(*)::int as jobs from ingest_job");
  expect(rows[0].jobs).toBe(60);
});

test("a sign-in with a body of several megabytes is refused before it is read", async () => {
  const body = { email: "ada@example.org", password: "x".repeat(5_000_000) };
  const response = await post(server, "/api/auth/sign-in/email", body, { Origin: server.url });
  expect(response.status).toBe(413);
});

test("a body in one-byte chunks is accepted", async () => {
  const text = Buffer.from(JSON.stringify({ traces: [{ sourceId: "crumbs", messages: [] }] }));
  async function* crumbs() {
    for (const byte of text) yield Uint8Array.of(byte);
  }
  const init = { method: "POST", duplex: "half", body: crumbs() } as unknown as RequestInit;
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  expect((await fetch(`${server.url}/api/ingest`, { ...init, headers })).status).toBe(202);
});

test("a request that offers to upgrade its connection gets a response without the upgrade", async () => {
  const { request } = await import("node:http");
  const status = await new Promise((resolve, reject) => {
    const headers = { Connection: "Upgrade, HTTP2-Settings", Upgrade: "h2c", "HTTP2-Settings": "AAMAAABkAAQAAP__" };
    request(`${server.url}/api/health`, { headers }, (response) => resolve(response.statusCode))
      .on("error", reject)
      .end();
  });
  expect(status).toBe(200);
});
