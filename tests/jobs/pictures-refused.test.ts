import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { deleteAccount } from "#lib/auth/deletion";
import { setEnv } from "#lib/core/env";
import { limits } from "#lib/core/limits";
import { pool } from "#lib/db/client";
import { findMissing } from "#lib/ingest/pictures/accept";
import { getStorage } from "#lib/ingest/quota/quota";
import { removeObjects } from "#lib/ingest/raw/removal";
import { wholeRange } from "#lib/masking/for-others";
import { getSharedPicture, shareTrace } from "#lib/shares/shares";
import { listObjects } from "#lib/storage/s3";
import { deleteTrace } from "#lib/traces/deletion";
import { makePng, makeSample, type Sample } from "../support/pictures.ts";
import { startS3 } from "../support/s3.ts";
import { makeUser, provideOwner } from "../support/server.ts";
import { clearPictures, getPictures, missing, session, storedHashes } from "./pictured.ts";
import { getUploads } from "./uploads.ts";

const { userId } = await provideOwner();
const bob = await makeUser({ name: "Bob", email: "bob@example.org", password: "" });
const s3 = await startS3();
afterAll(s3.stop);
const { send } = getUploads(userId);
const { put, read, findId } = getPictures(userId);
beforeEach(clearPictures);

describe("another user's picture", () => {
  test("is a missing one, in every route", async () => {
    const one = makePng();
    await put(one);
    await send(session("s", [one]));
    expect(await findMissing(bob, [one.sha256])).toEqual([one.sha256]);
    await expect(read("s", one, bob)).rejects.toMatchObject(missing);
    expect(await put(one, bob)).toBe(true);
    await expect(read("s", one, bob)).rejects.toMatchObject(missing);
    const before = (await getStorage(bob)).used;
    expect(before).toBeGreaterThanOrEqual(one.bytes.length);
  });

  test("and all of a user's go with the account", async () => {
    setEnv(s3.settings);
    const carol = await makeUser({ name: "Carol", email: "carol@example.org", password: "" });
    const one = makePng();
    await put(one, carol);
    await getUploads(carol).send(session("s", [one]));
    await deleteAccount(carol);
    const { rows } = await pool().query(
      "select (select count(*)::int from picture where user_id = $1) + (select count(*)::int from trace_picture where user_id = $1) as left",
      [carol],
    );
    expect(rows).toEqual([{ left: 0 }]);
    await removeObjects(5);
    expect((await listObjects("")).filter(({ key }) => key.includes(carol))).toEqual([]);
    await expect(put(makePng(), carol)).rejects.toMatchObject({ code: "invalid_token" });
  });
});

describe("what is refused", () => {
  const put2 = (sample: Sample, more: Partial<Sample>) => put({ ...sample, ...more });
  const one = makePng();

  test("stores nothing: other bytes, another type, more bytes or pixels than a picture may have", async () => {
    await expect(put2(one, { sha256: makePng().sha256 })).rejects.toMatchObject({ code: "invalid_request" });
    await expect(put2(one, { mediaType: "image/jpeg" })).rejects.toMatchObject({ code: "invalid_request" });
    for (const mediaType of ["image/svg+xml", "text/html", "application/json", "image/avif", ""])
      await expect(put2(one, { mediaType })).rejects.toMatchObject({ code: "unsupported_media_type" });
    const page = makeSample(Buffer.from("<html><script>alert(1)</script>"));
    const drawing = makeSample(Buffer.from("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"));
    for (const sample of [page, drawing, makeSample(Buffer.alloc(0))])
      await expect(put(sample)).rejects.toMatchObject({ code: "invalid_request" });
    const large = makePng({ extra: limits.pictures.bytes });
    await expect(put(large)).rejects.toMatchObject({ code: "payload_too_large" });
    const vast = makePng({ told: limits.pictures.pixels / 8 + 1 });
    await expect(put(vast)).rejects.toMatchObject({
      code: "payload_too_large",
      message: "The picture exceeds the limit of 50000000 pixels.",
    });
    await expect(put(makePng({ told: 0 }))).rejects.toMatchObject({ code: "invalid_request" });
    expect(await storedHashes()).toEqual([]);
  });

  test("is what does not fit into the quota, in which pictures count", async () => {
    setEnv({ USER_QUOTA_BYTES: "100000" });
    await put(makePng({ extra: 60_000 }));
    expect((await getStorage(userId)).used).toBeGreaterThan(60_000);
    const answers = await Promise.allSettled(Array.from({ length: 6 }, () => put(makePng({ extra: 20_000 }))));
    expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(answers.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { code: "payload_too_large" },
    });
    expect((await getStorage(userId)).used).toBeLessThanOrEqual(100_000);
  });
});

describe("a share", () => {
  const getToken = async (sharing: Parameters<typeof shareTrace>[2]) =>
    (await shareTrace(userId, await findId("s"), sharing, operator)).split("/").at(-1) ?? "";
  const open = async (token: string, { sha256 }: Sample) => {
    const response = await getSharedPicture(token, sha256, "203.0.113.7");
    return Buffer.from(await response.arrayBuffer());
  };

  test("opens pictures where it was made with them, of the messages that it opens", async () => {
    const [one, two] = [makePng(), makePng()];
    for (const picture of [one, two]) await put(picture);
    await send(session("s", [one], [two]));
    const all = { ...wholeRange, masked: true, days: null };
    const plain = await getToken(all);
    const ticked = await getToken({ ...all, pictures: true });
    const part = await getToken({ ...all, pictures: true, from: 1, to: 1 });
    await expect(open(plain, one)).rejects.toMatchObject(missing);
    expect((await open(ticked, one)).equals(one.bytes)).toBe(true);
    expect((await open(part, two)).equals(two.bytes)).toBe(true);
    await expect(open(part, one)).rejects.toMatchObject(missing);
    await expect(open("x".repeat(36), one)).rejects.toMatchObject(missing);
    await deleteTrace(userId, await findId("s"), operator);
    await expect(open(ticked, one)).rejects.toMatchObject(missing);
  });
});
