import { beforeEach, describe, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { deleteAccount } from "#lib/auth/deletion";
import { setEnv } from "#lib/core/env";
import { pool } from "#lib/db/client";
import { getStorage } from "#lib/ingest/quota/quota";
import { deleteOriginal, purgeParts } from "#lib/originals/deletion";
import { setKey } from "#lib/originals/keys";
import { getOriginal, listOriginals } from "#lib/originals/queries";
import { originalsQuery } from "#lib/originals/schema";
import { deleteLeftOriginals } from "#lib/originals/sql";
import { countSelection, deleteSelection, deleteTrace } from "#lib/traces/deletion";
import { purgeDeleted } from "#lib/traces/purge";
import { afterNext, waitingForLocks } from "../support/meanwhile.ts";
import { makePart, recipient } from "../support/parts.ts";
import { makeUser, provideOwner } from "../support/server.ts";
import { aDayLater, clearCopies, getCopies, getHashes, storedParts } from "./copied.ts";
import { getUploads } from "./uploads.ts";

const { userId } = await provideOwner();
const { key, put, putPart, getPart } = getCopies(userId);
const { send, findId } = getUploads(userId);
beforeEach(clearCopies);

const session = (sourceId: string, project = "api") => ({
  ...key(sourceId),
  project,
  messages: [{ position: 0, role: "user", content: "hello" }],
});
const count = async () => (await listOriginals(userId, originalsQuery.parse({}))).originals.length;

describe("parts that no copy refers to", () => {
  test("go a day after they were sent, and those that a copy refers to stay", async () => {
    const [used, unused, again] = [makePart(), makePart(), makePart()];
    for (const part of [used, unused, again]) await putPart(part);
    await put("s", [used]);
    await purgeParts(5);
    expect(await storedParts()).toHaveLength(3);
    await aDayLater();
    expect(await putPart(again)).toBe(false); // which promises another day
    expect(await putPart(used)).toBe(false);
    await purgeParts(5);
    expect(await storedParts()).toEqual(getHashes(used, again));
    await aDayLater();
    await purgeDeleted(5);
    expect(await storedParts()).toEqual(getHashes(used));
    expect((await getPart(used)).equals(used.bytes)).toBe(true);
  });

  test("because it was replaced stay for a day, for who is reading the former version", async () => {
    const [one, two, merged] = [makePart(), makePart(), makePart()];
    for (const part of [one, two, merged]) await putPart(part);
    const first = await put("s", [one, two]);
    await put("other", [two]);
    await put("s", [merged], first);
    await purgeParts(5);
    expect((await getPart(one)).equals(one.bytes)).toBe(true);
    await aDayLater();
    await purgeParts(5);
    expect(await storedParts()).toEqual(getHashes(two, merged));
  });

  test("because the copy was deleted go at once, but for those of other copies", async () => {
    const [one, two] = [makePart(), makePart()];
    for (const part of [one, two]) await putPart(part);
    await put("s", [one, two]);
    await put("other", [two]);
    await deleteOriginal(userId, key("s"), operator);
    await purgeParts(5);
    expect(await storedParts()).toEqual(getHashes(two));
  });
});

describe("a part that is a day old and that a copy begins to refer to", () => {
  test("stays where the cleaning comes while the copy is being stored", async () => {
    const part = makePart();
    await putPart(part);
    await aDayLater();
    let cleaning: Promise<void> | undefined;
    // The copy has seen the part, and nothing else can see the copy yet.
    afterNext("insert into original_use", async () => {
      cleaning = purgeParts(5);
      await expect.poll(waitingForLocks).toBe(1);
    });
    await put("s", [part]);
    await cleaning;
    expect((await getPart(part)).equals(part.bytes)).toBe(true);
    expect((await getOriginal(userId, key("s"))).parts).toHaveLength(1);
  });

  test("is told to be missing where the cleaning was first", async () => {
    const part = makePart();
    await putPart(part);
    await aDayLater();
    let storing: Promise<unknown> | undefined;
    afterNext("delete from original_part", async () => {
      storing = put("s", [part]).catch((error) => error);
      await expect.poll(waitingForLocks).toBe(1);
    });
    await purgeParts(5);
    expect(await storing).toMatchObject({ code: "parts_missing", missing: [part.sha256] });
    expect(await count()).toBe(0);
  });

  test("stays where its client sends it again while it is about to be deleted", async () => {
    const part = makePart();
    await putPart(part);
    await aDayLater();
    afterNext("select encode(sha256, 'hex') as hash from original_part", () => putPart(part));
    await purgeParts(5);
    expect(await storedParts()).toEqual(getHashes(part));
  });
});

describe("a copy goes", () => {
  test("with its session, and is not taken again", async () => {
    const part = makePart();
    await putPart(part);
    await send(session("gone"), session("kept"));
    for (const id of ["gone", "kept"]) await put(id, [part]);
    await deleteTrace(userId, await findId("gone"), operator);
    await expect(getOriginal(userId, key("gone"))).rejects.toMatchObject({ code: "not_found" });
    await expect(put("gone", [part])).rejects.toMatchObject({ code: "session_deleted" });
    await purgeDeleted(5);
    expect((await getOriginal(userId, key("kept"))).parts).toHaveLength(1);
    expect((await getPart(part)).equals(part.bytes)).toBe(true);
  });

  test("with all sessions of a project", async () => {
    await send(session("a", "api"), session("b", "api"), session("c", "web"));
    for (const id of ["a", "b", "c"]) await put(id, []);
    const { mark } = await countSelection(userId, { project: "api" });
    expect(await deleteSelection(userId, { project: "api" }, mark, operator)).toBe(2);
    const { originals } = await listOriginals(userId, originalsQuery.parse({}));
    expect(originals.map(({ sourceId }) => sourceId)).toEqual(["c"]);
  });

  test("where it is stored while its session is being deleted", async () => {
    await send(session("s"));
    const id = await findId("s");
    let storing: Promise<unknown> | undefined;
    afterNext("delete from original ", async () => {
      storing = put("s", []).catch((error) => error);
      await expect.poll(waitingForLocks).toBe(1);
    });
    await put("s", []);
    await deleteTrace(userId, id, operator);
    expect(await storing).toMatchObject({ code: "session_deleted" });
    expect(await count()).toBe(0);
  });

  test("where a process of the release before deleted its session", async () => {
    await send(session("s"), session("kept"));
    for (const id of ["s", "kept"]) await put(id, []);
    await pool().query("update trace set deleted_at = now() where source_id = 's'");
    await deleteLeftOriginals();
    expect(await count()).toBe(1);
  });

  test("with the account, and leaves no row of it", async () => {
    const carol = await makeUser({ name: "Carol", email: "carol@example.org", password: "" });
    const carols = getCopies(carol);
    const parts = Array.from({ length: 150 }, () => makePart());
    for (const part of parts) await carols.putPart(part);
    await carols.put("s", parts);
    await setKey(carol, recipient, undefined, operator);
    await deleteAccount(carol);
    for (const table of ["original_key", "original_part", "original", "original_use"]) {
      const { rowCount } = await pool().query(`select 1 from ${table} where user_id = $1`, [carol]);
      expect([table, rowCount]).toEqual([table, 0]);
    }
    await expect(carols.putPart(makePart())).rejects.toMatchObject({ code: "invalid_token" });
    await expect(carols.put("s", [])).rejects.toMatchObject({ code: "invalid_token" });
  });
});

describe("what a user may store", () => {
  test("counts parts, heads and references, and what is over it is not stored", async () => {
    const before = (await getStorage(userId)).used;
    const [one, two] = [makePart(100_000), makePart(100_000)];
    await putPart(one);
    await put("s", [one]);
    const { used } = await getStorage(userId);
    expect(used - before).toBeGreaterThan(100_000);
    expect(used - before).toBeLessThan(102_000);
    setEnv({ USER_QUOTA_BYTES: String(used + 50_000) });
    await expect(putPart(two)).rejects.toMatchObject({ code: "payload_too_large" });
    expect(await storedParts()).toEqual(getHashes(one));
    await expect(put("many", Array(1000).fill(one))).rejects.toMatchObject({ code: "payload_too_large" });
    expect(await count()).toBe(1);
    await put("few", [one]);
    await expect(put("x".repeat(500), Array(60).fill(one))).rejects.toMatchObject({ code: "payload_too_large" });
    await deleteOriginal(userId, key("s"), operator);
    await deleteOriginal(userId, key("few"), operator);
    await purgeParts(5);
    expect((await getStorage(userId)).used).toBe(before);
    setEnv({ USER_QUOTA_BYTES: String(before + 102_000) });
    expect(await putPart(two)).toBe(true);
  });
});
