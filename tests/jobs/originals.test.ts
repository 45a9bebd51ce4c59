import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { setEnv } from "#lib/core/env";
import { limits } from "#lib/core/limits";
import { pool } from "#lib/db/client";
import { removeObjects, sweepOrphans } from "#lib/ingest/raw/removal";
import { deleteOriginal, purgeParts } from "#lib/originals/deletion";
import { exportOriginals } from "#lib/originals/export";
import { findKey, setKey } from "#lib/originals/keys";
import { getOriginal, listOriginals } from "#lib/originals/queries";
import { originalsQuery } from "#lib/originals/schema";
import { listObjects } from "#lib/storage/s3";
import { afterNext } from "../support/meanwhile.ts";
import { fingerprint, makePart, otherRecipient, recipient } from "../support/parts.ts";
import { startS3 } from "../support/s3.ts";
import { makeUser, provideOwner } from "../support/server.ts";
import { clearCopies, getCopies, getHashes, storedParts } from "./copied.ts";
import { getUploads } from "./uploads.ts";

const { userId } = await provideOwner();
const bob = await makeUser({ name: "Bob", email: "bob@example.org", password: "" });
const s3 = await startS3();
afterAll(s3.stop);
const { key, put, putPart, getPart } = getCopies(userId);
beforeEach(clearCopies);

const missing = { code: "not_found" };
const list = (query: object = {}) => listOriginals(userId, originalsQuery.parse(query));

describe.each(["postgres", "s3"])("a copy in %s", (where) => {
  beforeEach(() => {
    if (where === "s3") setEnv(s3.settings);
  });

  test("is read as it was sent, in its order, by its owner alone", async () => {
    const [one, two] = [makePart(2_500_000), makePart()];
    expect([await putPart(one), await putPart(one), await putPart(two)]).toEqual([true, false, true]);
    const version = await put("s", [two, one, two]);
    expect(await getOriginal(userId, key("s"))).toMatchObject({
      ...key("s"),
      version,
      recipient,
      fingerprint,
      files: 1,
      plainBytes: 7,
      machine: "laptop",
      parts: [two, one, two].map(({ sha256, bytes }) => ({ sha256, bytes: bytes.length })),
    });
    expect((await getPart(one)).equals(one.bytes)).toBe(true);
    const bobs = getCopies(bob);
    await expect(bobs.getPart(one)).rejects.toMatchObject(missing);
    await expect(getOriginal(bob, key("s"))).rejects.toMatchObject(missing);
    expect((await listOriginals(bob, originalsQuery.parse({}))).originals).toEqual([]);
    await deleteOriginal(bob, key("s"), operator);
    await expect(getOriginal(userId, key("s"))).resolves.toMatchObject({ version });
    await expect(bobs.put("s", [one])).rejects.toMatchObject({ code: "parts_missing", missing: [one.sha256] });
    expect(await bobs.putPart(one)).toBe(true);
  });

  test("leaves nothing in the store once it is deleted", async () => {
    const one = makePart();
    await putPart(one);
    await put("s", [one]);
    await deleteOriginal(userId, key("s"), operator);
    await purgeParts(5);
    expect(await storedParts()).toEqual([]);
    if (where !== "s3") return;
    await removeObjects(5);
    expect((await listObjects("")).filter(({ key }) => key.includes(one.sha256))).toEqual([]);
  });
});

test("objects of parts that no row names are swept, and no others", async () => {
  setEnv(s3.settings);
  const [kept, gone] = [makePart(), makePart()];
  await putPart(kept);
  await putPart(gone);
  await pool().query("delete from original_part where sha256 = $1", [Buffer.from(gone.sha256, "hex")]);
  await sweepOrphans(-60_000);
  const keys = (await listObjects("")).map(({ key }) => key);
  expect(keys.filter((key) => key.includes(kept.sha256))).toHaveLength(1);
  expect(keys.filter((key) => key.includes(gone.sha256))).toEqual([]);
});

describe("a machine", () => {
  test("replaces only the version that it has seen", async () => {
    const [one, two, three] = [makePart(), makePart(), makePart()];
    for (const part of [one, two, three]) await putPart(part);
    const first = await put("s", [one]);
    await expect(put("s", [one])).rejects.toMatchObject({ code: "precondition_failed" });
    const second = await put("s", [one, two], first);
    await expect(put("s", [one, three], first)).rejects.toMatchObject({ code: "precondition_failed" });
    await expect(put("other", [one], second)).rejects.toMatchObject({ code: "precondition_failed" });
    expect((await getOriginal(userId, key("s"))).parts.map(({ sha256 }) => sha256)).toEqual([one.sha256, two.sha256]);
  });

  test("is one of ten that write the same version at once, and nine are told", async () => {
    const parts = Array.from({ length: 10 }, () => makePart());
    for (const part of parts) await putPart(part);
    const first = await put("s", []);
    const results = await Promise.allSettled(parts.map((part) => put("s", [part], first)));
    const refused = results.flatMap((one) => (one.status === "rejected" ? [one.reason.code] : []));
    expect(refused).toEqual(Array(9).fill("precondition_failed"));
    const won = results.findIndex(({ status }) => status === "fulfilled");
    expect((await getOriginal(userId, key("s"))).parts).toMatchObject([{ sha256: parts[won]?.sha256 }]);
  });

  test("that has seen a copy from before a deletion does not replace the one made after it", async () => {
    const first = await put("s", []);
    await deleteOriginal(userId, key("s"), operator);
    await deleteOriginal(userId, key("s"), operator);
    const again = await put("s", []);
    expect(again).not.toBe(first);
    await expect(put("s", [], first)).rejects.toMatchObject({ code: "precondition_failed" });
    const { rows } = await pool().query("select subject from audit_event where action = 'original_deleted'");
    expect(rows.at(-1)).toEqual({ subject: "claude-code s" });
  });
});

describe("what is refused", () => {
  test("stores nothing: other bytes than the path's, no age file, another type, too many bytes", async () => {
    const [one, other] = [makePart(), makePart()];
    await expect(putPart({ ...one, sha256: other.sha256 })).rejects.toMatchObject({ code: "invalid_part" });
    for (const text of [
      "",
      "age",
      "age-encryption.org/v2\n",
      '{"type":"user"}',
      "-----BEGIN AGE ENCRYPTED FILE-----",
    ]) {
      const bytes = Buffer.from(text) as Buffer<ArrayBuffer>;
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      await expect(putPart({ bytes, sha256 })).rejects.toMatchObject({ code: "invalid_part" });
    }
    const large = makePart(limits.originals.partBytes);
    await expect(putPart(large)).rejects.toMatchObject({ code: "payload_too_large" });
    for (const type of ["application/json", "text/plain", ""])
      await expect(putPart(one, { "Content-Type": type })).rejects.toMatchObject({ code: "unsupported_media_type" });
    await expect(putPart(one, { "Content-Encoding": "gzip" })).rejects.toMatchObject({ code: "unsupported_encoding" });
    expect(await storedParts()).toEqual([]);
  });

  test("is told by field: a head that is not an age file, a recipient that is none, wrong counts", async () => {
    const wrong: [more: object, path: string][] = [
      [{ head: Buffer.from("readable").toString("base64") }, "head"],
      [{ head: makePart(limits.originals.headBytes).bytes.toString("base64") }, "head"],
      [{ head: "no base64!" }, "head"],
      [{ recipient: "AGE-SECRET-KEY-1" }, "recipient"],
      [{ recipient: `${recipient}q` }, "recipient"],
      [{ files: -1 }, "files"],
      [{ plainBytes: 0.5 }, "plainBytes"],
      [{ parts: ["A".repeat(64)] }, "parts.0"],
      [{ parts: Array(limits.originals.parts + 1).fill("0".repeat(64)) }, "parts"],
    ];
    for (const [more, path] of wrong)
      await expect(put("s", [], undefined, more)).rejects.toMatchObject({
        code: "invalid_request",
        errors: expect.arrayContaining([expect.objectContaining({ path })]),
      });
    expect((await list()).originals).toEqual([]);
  });

  test("names at most the first thousand of the missing parts", async () => {
    const parts = Array.from({ length: 1500 }, (_, n) => n.toString(16).padStart(64, "0"));
    const refused = await put("s", [], undefined, { parts }).catch((error) => error);
    expect(refused).toMatchObject({ code: "parts_missing", missing: parts.slice(0, 1000) });
  });
});

test("a copy of 20,000 parts grows by one row, and is listed with its size", async () => {
  const [one, two] = [makePart(), makePart()];
  for (const part of [one, two]) await putPart(part);
  const many = Array(limits.originals.parts - 1).fill(one);
  const first = await put("s", many);
  const before = await pool().query("select xmin::text from original_use limit 1");
  await put("s", [...many, two], first);
  const after = await pool().query("select xmin::text, count(*)::int from original_use group by 1 order by 2 desc");
  expect(after.rows.map(({ count }) => count)).toEqual([many.length, 1]);
  expect(after.rows[0].xmin).toBe(before.rows[0].xmin);
  const { originals } = await list();
  expect(originals).toMatchObject([{ ...key("s"), storedBytes: limits.originals.parts * one.bytes.length + 122 }]);
});

describe("the list", () => {
  test("has the latest first, page by page, with the titles of stored sessions", async () => {
    await getUploads(userId).send({
      source: "claude-code",
      sourceId: "s1",
      title: "Retry the upload",
      project: "api",
      messages: [{ position: 0, content: "hello" }],
    });
    for (let n = 1; n <= 5; n += 1) await put(`s${n}`, []);
    await pool().query("update original set updated_at = now() where source_id in ('s2', 's3', 's4')");
    const seen: (string | null)[][] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await list({ limit: "2", ...(cursor && { cursor }) });
      seen.push(...page.originals.map(({ sourceId, title, project }) => [sourceId, title, project]));
      if (!page.nextCursor) break;
      cursor = page.nextCursor;
    }
    expect(seen).toEqual([
      ["s2", null, null],
      ["s3", null, null],
      ["s4", null, null],
      ["s5", null, null],
      ["s1", "Retry the upload", "api"],
    ]);
    expect((await list({ sourceId: "s3" })).originals).toMatchObject([key("s3")]);
    expect((await list({ source: "codex" })).originals).toEqual([]);
    for (const cursor of ["x", "e30", Buffer.from('["2026-01-01T00:00:00Z"]').toString("base64url")])
      await expect(list({ cursor })).rejects.toMatchObject({ code: "invalid_request" });
  });
});

test("a key is set once, and replaced only by who has seen it; the audit trail has both", async () => {
  expect(await findKey(userId)).toBeUndefined();
  const results = await Promise.allSettled([1, 2, 3].map(() => setKey(userId, recipient, undefined, operator)));
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  await expect(setKey(userId, otherRecipient, undefined, operator)).rejects.toMatchObject({
    code: "precondition_failed",
  });
  await expect(setKey(userId, otherRecipient, "00000000", operator)).rejects.toMatchObject({
    code: "precondition_failed",
  });
  const changed = await setKey(userId, otherRecipient, fingerprint, operator);
  expect(changed.fingerprint).not.toBe(fingerprint);
  expect(await findKey(userId)).toMatchObject({ recipient: otherRecipient, fingerprint: changed.fingerprint });
  expect(await findKey(bob)).toBeUndefined();
  const { rows } = await pool().query(
    "select action, subject from audit_event where action like 'original_key%' order by id",
  );
  expect(rows).toEqual([
    { action: "original_key_set", subject: fingerprint },
    { action: "original_key_replaced", subject: changed.fingerprint },
  ]);
});

test("an export is a tar archive with every file as it was sent, under names that stay in its folder", async () => {
  const [one, two] = [makePart(700_000), makePart(490)];
  for (const part of [one, two]) await putPart(part);
  const long = `${"n".repeat(200)}/é`;
  await put("s", [one, two, one]);
  await put("../../x", [two]);
  await put("..", []);
  await put(long, [one]);
  await getCopies(bob).put("bobs", []);
  const folder = await mkdtemp(join(tmpdir(), "spoor-tar-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const archive = Buffer.from(await new Response(await exportOriginals(userId)).arrayBuffer());
  await writeFile(join(folder, "all.tar"), archive);
  execFileSync("tar", ["-xf", "all.tar"], { cwd: folder });
  const at = (sourceId: string, name: string) => readFile(join(folder, "claude-code", sourceId, name));
  const head = async (sourceId: string) => Buffer.from((await getOriginal(userId, key(sourceId))).head, "base64");
  for (const [name, sourceId, parts] of [
    ["s", "s", [one, two]],
    ["%2E%2E%2F..%2Fx", "../../x", [two]],
    ["%2E%2E", "..", []],
    [encodeURIComponent(long), long, [one]],
  ] as const) {
    expect((await at(name, "head.age")).equals(await head(sourceId))).toBe(true);
    for (const { sha256, bytes } of parts) expect((await at(name, `${sha256}.age`)).equals(bytes)).toBe(true);
    expect(await readdir(join(folder, "claude-code", name))).toHaveLength(parts.length + 1);
  }
  expect(await readdir(join(folder, "claude-code"))).toHaveLength(4);
});

test("an export counts as one of the user's, and ends with an error where it can't go on", async () => {
  const part = makePart();
  await putPart(part);
  await put("s", [part]);
  const read = async () => new Response(await exportOriginals(userId)).arrayBuffer();
  const begun = await Promise.all(Array.from({ length: limits.reads.exportsPerUser }, () => exportOriginals(userId)));
  await expect(read()).rejects.toMatchObject({ code: "overloaded" });
  for (const stream of begun) await stream.cancel();
  for (let n = 0; n <= limits.reads.exportsPerUser; n += 1) {
    afterNext("from original where user_id", () => Promise.reject(new Error("no first page")));
    await expect(exportOriginals(userId)).rejects.toThrow("no first page");
  }
  afterNext("select encode(used.sha256, 'hex')", () =>
    pool().query("delete from original_part where user_id = $1", [userId]),
  );
  await expect(read()).rejects.toThrow("deleted while it was exported");
});

test("hashes of different users' parts do not meet", async () => {
  const one = makePart();
  await putPart(one);
  await getCopies(bob).putPart(one);
  await put("s", [one]);
  await deleteOriginal(userId, key("s"), operator);
  await purgeParts(5);
  expect(await storedParts()).toEqual(getHashes(one));
  expect((await getCopies(bob).getPart(one)).equals(one.bytes)).toBe(true);
});
