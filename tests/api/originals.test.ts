import { expect, test } from "vitest";
import { limits } from "#lib/core/limits";
import { pool } from "#lib/db/client";
import { fingerprint, getManifest, makePart, otherRecipient, type Part, recipient } from "../support/parts.ts";
import { get, ingest, logIn, makeUser, provideOwnedServer } from "../support/server.ts";
import { asResponse, bearer, expectApiHeaders, expectProblem, openRequest, sessionCookie } from "./client.ts";

const { server, token, userId } = await provideOwnedServer({ scopes: ["ingest", "originals"] });
const bob = await makeUser({ name: "Bob", email: "bob@example.org", password: "" });
const bobs = await logIn(server, bob, "m", ["originals"]);
const cookie = await sessionCookie(server);

const makePath = (sourceId: string, source = "claude-code") =>
  `/api/originals/${encodeURIComponent(source)}/${encodeURIComponent(sourceId)}`;
const first = { "If-None-Match": "*" };
const put = (path: string, body: object, headers: Record<string, string>, as = token) =>
  fetch(server.url + path, {
    method: "PUT",
    headers: { ...bearer(as), "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
const putPart = ({ bytes, sha256 }: Part, as = token) =>
  fetch(`${server.url}/api/originals/parts/${sha256}`, {
    method: "PUT",
    headers: { ...bearer(as), "Content-Type": "application/octet-stream" },
    body: bytes,
  });

test("a copy is sent, listed, read and deleted over HTTP, with its version as entity tag", async () => {
  const [one, two] = [makePart(3_000_000), makePart()];
  expect([(await putPart(one)).status, (await putPart(one)).status, (await putPart(two)).status]).toEqual([
    201, 200, 201,
  ]);
  const path = makePath("s1");
  const created = await put(path, getManifest(one), first);
  const { version } = await created.json();
  expect([created.status, created.headers.get("etag")]).toEqual([201, `"${version}"`]);
  await expectProblem(await put(path, getManifest(two), first), 412, "precondition_failed");
  const manifest = getManifest(one, two);
  const replaced = await put(path, manifest, { "If-Match": `W/"${version}"` });
  expect(replaced.status).toBe(200);
  const read = await get(server, path, token);
  expectApiHeaders(read.headers);
  const body = await read.json();
  expect(read.headers.get("etag")).toBe(`"${body.version}"`);
  expect(body).toMatchObject({ ok: true, recipient, fingerprint, head: manifest.head, machine: "ada-laptop" });
  expect(body.parts).toEqual([one, two].map(({ sha256, bytes }) => ({ sha256, bytes: bytes.length })));
  const part = await get(server, `/api/originals/parts/${one.sha256}`, token);
  expectApiHeaders(part.headers);
  expect(part.headers.get("content-type")).toBe("application/octet-stream");
  expect(Buffer.from(await part.arrayBuffer()).equals(one.bytes)).toBe(true);
  const listed = await (await get(server, "/api/originals?source=claude-code", token)).json();
  expect(listed.originals).toMatchObject([{ sourceId: "s1", version: body.version, title: null }]);
  for (let n = 0; n < 2; n += 1) {
    const deleted = await fetch(server.url + path, { method: "DELETE", headers: bearer(token) });
    expect(deleted.status).toBe(204);
  }
  await expectProblem(await get(server, path, token), 404, "not_found");
});

test("any source id comes back as it was sent", async () => {
  for (const sourceId of ["a/b", "../..", "%2F", "a b+c?d#e", "é 漢", "x".repeat(limits.trace.sourceId)]) {
    const path = makePath(sourceId);
    expect([sourceId, (await put(path, getManifest(), first)).status]).toEqual([sourceId, 201]);
    expect((await (await get(server, path, token)).json()).sourceId).toBe(sourceId);
  }
  await expectProblem(await put(makePath("x".repeat(513)), getManifest(), first), 404, "not_found");
  await expectProblem(await put(makePath("\0"), getManifest(), first), 404, "not_found");
});

test("a condition is required, and of two machines one wins", async () => {
  const path = makePath("raced");
  for (const headers of [{}, { "If-Match": "*" }, { "If-Match": "x" }, { "If-None-Match": '"1"' }] as object[])
    await expectProblem(
      await put(path, getManifest(), headers as Record<string, string>),
      428,
      "precondition_required",
    );
  const answers = await Promise.all(Array.from({ length: 8 }, () => put(path, getManifest(), first)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(7).fill(412)]);
});

test("the key is set by a machine with the scope, and replaced by one that has seen it", async () => {
  const path = "/api/originals/key";
  await expectProblem(await get(server, path, token), 404, "not_found");
  expect(await (await put(path, { recipient }, first)).json()).toMatchObject({ ok: true, recipient, fingerprint });
  await expectProblem(await put(path, { recipient: otherRecipient }, first), 412, "precondition_failed");
  expect((await put(path, { recipient: otherRecipient }, { "If-Match": `"${fingerprint}"` })).status).toBe(200);
  expect(await (await get(server, path, token)).json()).toMatchObject({ recipient: otherRecipient });
  await expectProblem(await get(server, path, bobs), 404, "not_found");
  await expectProblem(await put(path, { recipient: "AGE-SECRET-KEY-1" }, first), 400, "invalid_request");
});

test("reading sessions opens no copy; a browser reads and deletes copies, and stores none", async () => {
  const one = makePart();
  await putPart(one);
  await put(makePath("mine"), getManifest(one), first);
  const paths = ["/api/originals", "/api/originals/key", `/api/originals/parts/${one.sha256}`, makePath("mine")];
  const reader = await logIn(server, userId, "m", ["ingest", "read", "delete"]);
  for (const path of [...paths, "/api/originals/export"]) {
    await expectProblem(await get(server, path, reader), 403, "access_denied");
    await expectProblem(await get(server, path), 401, "missing_token");
    expect((await fetch(server.url + path, { headers: { Cookie: cookie } })).status).toBe(200);
  }
  const { rows } = await pool().query(
    "select 1 from audit_event where user_id = $1 and action = 'originals_exported'",
    [userId],
  );
  expect(rows).toHaveLength(1);
  expect((await (await get(server, "/api/originals", bobs)).json()).originals).toEqual([]);
  for (const path of paths.slice(2)) await expectProblem(await get(server, path, bobs), 404, "not_found");
  const browser = { Cookie: cookie, "Content-Type": "application/json", ...first };
  const refused = await fetch(server.url + makePath("theirs"), { method: "PUT", headers: browser, body: "{}" });
  await expectProblem(refused, 401, "missing_token");
  const remove = (headers: Record<string, string>) =>
    fetch(server.url + makePath("mine"), { method: "DELETE", headers: { Cookie: cookie, ...headers } });
  await expectProblem(await remove({}), 403, "access_denied");
  await expectProblem(await remove({ Origin: "https://evil.example" }), 403, "access_denied");
  expect((await remove({ Origin: server.url })).status).toBe(204);
});

test("a session that was deleted takes no copy any more", async () => {
  await ingest(server, token, [{ source: "claude-code", sourceId: "gone", messages: [{ position: 0, content: "x" }] }]);
  expect((await put(makePath("gone"), getManifest(), first)).status).toBe(201);
  const { rows } = await pool().query("select id from trace where source_id = 'gone'");
  const deleting = await logIn(server, userId, "m", ["delete"]);
  await fetch(`${server.url}/api/traces/${rows[0].id}`, { method: "DELETE", headers: bearer(deleting) });
  await expectProblem(await get(server, makePath("gone"), token), 404, "not_found");
  await expectProblem(await put(makePath("gone"), getManifest(), first), 410, "session_deleted");
});

test("a part over the limit is refused while it arrives, and nothing of it is stored", async () => {
  const large = makePart(limits.originals.partBytes);
  await expectProblem(await putPart(large), 413, "payload_too_large");
  const { request, answer } = openRequest(server, `/api/originals/parts/${large.sha256}`, {
    method: "PUT",
    headers: { ...bearer(token), "Content-Type": "application/octet-stream", "Transfer-Encoding": "chunked" },
  });
  request.end(large.bytes);
  await expectProblem(asResponse(await answer), 413, "payload_too_large");
  const exact = makePart(limits.originals.partBytes - makePart(0).bytes.length);
  expect((await putPart(exact)).status).toBe(201);
  const { rows } = await pool().query("select 1 from original_part where sha256 = $1", [
    Buffer.from(large.sha256, "hex"),
  ]);
  expect(rows).toEqual([]);
});
