import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { limits } from "#lib/core/limits";
import { pool } from "#lib/db/client";
import { makePng, naming, type Sample } from "../support/pictures.ts";
import { get, ingest, logIn, makeUser, post, provideOwnedServer } from "../support/server.ts";
import { asResponse, bearer, expectApiHeaders, expectProblem, openRequest, sessionCookie } from "./client.ts";

const { server, token, userId } = await provideOwnedServer();
const bobs = await logIn(server, await makeUser({ name: "Bob", email: "bob@example.org", password: "" }));
const cookie = await sessionCookie(server);

const put = ({ bytes, mediaType, sha256 }: Sample, as = token, headers: Record<string, string> = {}) =>
  fetch(`${server.url}/api/pictures/${sha256}`, {
    method: "PUT",
    headers: { ...bearer(as), "Content-Type": mediaType, ...headers },
    body: bytes,
  });
const ask = async (hashes: string[], as = token) => {
  const response = await post(server, "/api/pictures/missing", { hashes }, bearer(as));
  expect(response.status).toBe(200);
  return (await response.json()) as { missing: string[]; maxBytes: number };
};
const session = (sourceId: string, ...pictures: Sample[]) => ({
  sourceId,
  messages: [{ position: 0, role: "user", content: "see", metadata: naming(...pictures) }],
});
const findId = async (sourceId: string) => {
  const { rows } = await pool().query("select id from trace where source_id = $1", [sourceId]);
  return String(rows[0]?.id);
};
const path = (traceId: string, { sha256 }: Sample) => `/api/traces/${traceId}/pictures/${sha256}`;

test("a picture is asked for, sent once, and read as it was by whoever may read its session", async () => {
  const one = makePng({ extra: 300_000 });
  expect(await ask([one.sha256])).toEqual({ ok: true, missing: [one.sha256], maxBytes: 5 * 1024 * 1024 });
  const [first, second] = [await put(one), await put(one)];
  expect([first.status, await first.json(), second.status]).toEqual([201, { ok: true }, 200]);
  expect((await ask([one.sha256])).missing).toEqual([]);
  await ingest(server, token, [session("one", one)]);
  const address = path(await findId("one"), one);
  for (const headers of [bearer(token), { Cookie: cookie }] as Record<string, string>[]) {
    const response = await fetch(server.url + address, { headers });
    expect(response.status).toBe(200);
    expectApiHeaders(response.headers);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "image/png",
      "content-disposition": "inline",
      "x-content-type-options": "nosniff",
      "content-security-policy": expect.stringContaining("default-src 'none'"),
      "cross-origin-resource-policy": "same-origin",
    });
    expect(Buffer.from(await response.arrayBuffer()).equals(one.bytes)).toBe(true);
  }
  const head = await fetch(server.url + address, { method: "HEAD", headers: bearer(token) });
  expect([head.status, await head.text()]).toEqual([200, ""]);
  await expectProblem(await fetch(server.url + address), 401, "missing_token");
  await expectProblem(await get(server, address, await logIn(server, userId, "m", ["ingest"])), 403, "access_denied");
  await expectProblem(await put(one, await logIn(server, userId, "m", ["read"])), 403, "access_denied");
});

test("another user's picture is a missing one in every route, and no answer tells that it exists", async () => {
  const [one, unknown] = [makePng(), makePng()];
  await put(one);
  await ingest(server, token, [session("mine", one)]);
  const traceId = await findId("mine");
  expect((await ask([one.sha256, unknown.sha256], bobs)).missing).toEqual([one.sha256, unknown.sha256]);
  await ingest(server, bobs, [session("bobs", one)]); // a guess at its hash
  for (const address of [path(traceId, one), path(traceId, unknown), path(await findId("bobs"), one)])
    await expectProblem(await get(server, address, bobs), 404, "not_found");
  expect([(await put(one, bobs)).status, (await put(unknown, bobs)).status]).toEqual([201, 201]);
});

test("what is no picture, too large or not as it says is refused, and nothing of it is stored", async () => {
  const one = makePng();
  const exact = makePng({ extra: limits.pictures.bytes - makePng().bytes.length });
  expect(exact.bytes.length).toBe(limits.pictures.bytes);
  expect((await put(exact)).status).toBe(201);
  const over = makePng({ extra: limits.pictures.bytes - makePng().bytes.length + 1 });
  await expectProblem(await put(over), 413, "payload_too_large");
  await expectProblem(await put(makePng({ told: 30_000_000 })), 413, "payload_too_large");
  const { request, answer } = openRequest(server, `/api/pictures/${over.sha256}`, {
    method: "PUT",
    headers: { ...bearer(token), "Content-Type": "image/png", "Transfer-Encoding": "chunked" },
  });
  request.end(over.bytes);
  await expectProblem(asResponse(await answer), 413, "payload_too_large");
  await expectProblem(await put({ ...one, sha256: makePng().sha256 }), 400, "invalid_request");
  await expectProblem(await put({ ...one, mediaType: "image/webp" }), 400, "invalid_request");
  await expectProblem(await put({ ...one, mediaType: "image/svg+xml" }), 415, "unsupported_media_type");
  await expectProblem(await put(one, token, { "Content-Encoding": "gzip" }), 415, "unsupported_encoding");
  for (const sha256 of ["none", one.sha256.toUpperCase(), `${one.sha256}0`, "..%2f..%2fx"])
    await expectProblem(await put({ ...one, sha256 }), 404, "not_found");
  expect((await ask([over.sha256, one.sha256])).missing).toEqual([over.sha256, one.sha256]);
  for (const hashes of [["x"], [one.sha256.toUpperCase()], Array(1001).fill(one.sha256), "x"])
    await expectProblem(await post(server, "/api/pictures/missing", { hashes }, bearer(token)), 400, "invalid_request");
});

test("a body that ends early stores nothing, and one whose account is deleted meanwhile leaves nothing", async () => {
  const one = makePng({ extra: 200_000 });
  const carol = await makeUser({ name: "Carol", email: "carol@example.org", password: "" });
  const carols = await logIn(server, carol);
  const begin = (as: string) => {
    const headers = { ...bearer(as), "Content-Type": "image/png", "Content-Length": String(one.bytes.length) };
    const opened = openRequest(server, `/api/pictures/${one.sha256}`, { method: "PUT", headers });
    opened.request.write(one.bytes.subarray(0, 100_000));
    return opened;
  };
  const cut = begin(token);
  cut.answer.catch(() => {});
  await sleep(50);
  cut.request.destroy();
  const late = begin(carols);
  await sleep(200); // its token is accepted by now
  const { deleteAccount } = await import("#lib/auth/deletion");
  await deleteAccount(carol);
  late.request.end(one.bytes.subarray(100_000));
  await expectProblem(asResponse(await late.answer), 401, "invalid_token");
  const { rows } = await pool().query("select 1 from picture where sha256 = $1", [Buffer.from(one.sha256, "hex")]);
  expect(rows).toEqual([]);
});

test("exports name pictures, and a session's Markdown links those that are there", async () => {
  const [one, gone] = [makePng(), makePng()];
  await put(one);
  await ingest(server, token, [session("told", one, gone)]);
  const traceId = await findId("told");
  const exported = await (await get(server, `/api/traces/${traceId}/export.json`, token)).json();
  expect(JSON.stringify(exported)).toContain(one.sha256);
  const markdown = await (await get(server, `/api/traces/${traceId}/export.md`, token)).text();
  expect(markdown).toContain(`[Picture 1 of 2, image/png, 1 KiB](${server.url}${path(traceId, one)})`);
  expect(markdown).not.toContain(`pictures/${gone.sha256}`);
  const forOthers = await (await get(server, `/api/traces/${traceId}/export.md?for=github`, token)).text();
  expect(forOthers).not.toContain("/pictures/");
});
