import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { setEnv } from "#lib/core/env";
import { limits } from "#lib/core/limits";
import { pool } from "#lib/db/client";
import { findMissing } from "#lib/ingest/pictures/accept";
import { removeObjects, sweepOrphans } from "#lib/ingest/raw/removal";
import { rotateKeys } from "#lib/ingest/raw/rotation";
import { replayJob } from "#lib/ingest/replay";
import { unlinkDeleted } from "#lib/messages/pictures/sql";
import { listObjects } from "#lib/storage/s3";
import { deleteTrace } from "#lib/traces/deletion";
import { purgeDeleted } from "#lib/traces/purge";
import { acceptFailed } from "../support/ingesting.ts";
import { makePng, naming } from "../support/pictures.ts";
import { startS3 } from "../support/s3.ts";
import { provideOwner } from "../support/server.ts";
import { formed } from "../unit/secrets/made-up.ts";
import { clearPictures, getPictures, missing, session, storedHashes } from "./pictured.ts";
import { getUploads } from "./uploads.ts";

const { userId } = await provideOwner();
const s3 = await startS3();
afterAll(s3.stop);
const { accept, run, send } = getUploads(userId);
const { put, read, findId } = getPictures(userId);

beforeEach(clearPictures);

const aDayLater = () => pool().query("update picture set wanted_at = wanted_at - interval '25 hours'");

describe.each(["postgres", "s3", "postgres, encrypted", "s3, encrypted"])("pictures in %s", (where) => {
  beforeEach(() => {
    if (where.includes("encrypted")) setEnv({ ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64") });
    if (where.startsWith("s3")) setEnv(s3.settings);
  });

  test("are stored once, read where a trace refers to them, and go with the last one that does", async () => {
    const [one, two] = [makePng({ extra: 1_500_000 }), makePng()];
    expect(await findMissing(userId, [one.sha256, two.sha256])).toEqual([one.sha256, two.sha256]);
    expect([await put(one), await put(one), await put(two)]).toEqual([true, false, true]);
    expect(await findMissing(userId, [one.sha256, two.sha256])).toEqual([]);
    await send(session("a", [one, two]), session("b", [one]));
    expect((await read("a", one)).equals(one.bytes)).toBe(true);
    await expect(read("b", two)).rejects.toMatchObject(missing);
    await deleteTrace(userId, await findId("a"), operator);
    await purgeDeleted(5);
    expect(await storedHashes()).toEqual([one.sha256]);
    expect((await read("b", one)).equals(one.bytes)).toBe(true);
    await deleteTrace(userId, await findId("b"), operator);
    await purgeDeleted(5);
    expect(await storedHashes()).toEqual([]);
    if (!where.startsWith("s3")) return;
    await removeObjects(5);
    expect((await listObjects("")).filter(({ key }) => !key.endsWith(".zst"))).toEqual([]);
  });
});

test.each(["postgres", "s3"])("in %s get the first key of several, and stay readable", async (where) => {
  const [old, first] = [1, 2].map((n) => Buffer.alloc(32, n).toString("base64")) as [string, string];
  if (where === "s3") setEnv(s3.settings);
  setEnv({ ENCRYPTION_KEY: old });
  const one = makePng({ extra: 40_000 });
  await put(one);
  await send(session("s", [one]));
  await pool().query("delete from upload");
  setEnv({ ENCRYPTION_KEY: `${first},${old}` });
  expect(await rotateKeys()).toEqual({ sealed: 1, left: 0, unreadable: 0 });
  setEnv({ ENCRYPTION_KEY: first });
  expect((await read("s", one)).equals(one.bytes)).toBe(true);
});

test("objects of pictures that no row names are swept, and no others", async () => {
  setEnv(s3.settings);
  const [kept, gone] = [makePng(), makePng()];
  await put(kept);
  await put(gone);
  await pool().query("delete from picture where sha256 = $1", [Buffer.from(gone.sha256, "hex")]);
  await sweepOrphans(-60_000);
  const keys = (await listObjects("")).map(({ key }) => key);
  expect(keys.filter((key) => key.includes(kept.sha256))).toHaveLength(1);
  expect(keys.filter((key) => key.includes(gone.sha256))).toEqual([]);
});

describe("a picture that no message names", () => {
  test("is removed a day after it was sent or asked for, and not while an upload may still name it", async () => {
    const [unused, waiting] = [makePng(), makePng()];
    await put(unused);
    await purgeDeleted(5);
    expect(await storedHashes()).toEqual([unused.sha256]);
    await aDayLater();
    await findMissing(userId, [unused.sha256]);
    await purgeDeleted(5);
    expect(await storedHashes()).toEqual([unused.sha256]);
    await put(waiting);
    const job = await accept([session("late", [waiting])]);
    await aDayLater();
    await purgeDeleted(5);
    expect(await storedHashes()).toHaveLength(2);
    await run(job);
    await purgeDeleted(5);
    expect(await storedHashes()).toEqual([waiting.sha256]);
    await aDayLater();
    await purgeDeleted(5);
    expect((await read("late", waiting)).equals(waiting.bytes)).toBe(true);
  });

  test("stays for a client that was just told that it is there, though its session is deleted meanwhile", async () => {
    const one = makePng();
    await put(one);
    await send(session("first", [one]));
    expect(await findMissing(userId, [one.sha256])).toEqual([]);
    await deleteTrace(userId, await findId("first"), operator);
    await purgeDeleted(5);
    await send(session("second", [one]));
    expect((await read("second", one)).equals(one.bytes)).toBe(true);
  });
});

describe.each(["waits", "has failed"])("a picture that an upload may still name which %s", (how) => {
  test("stays where the session that came before it is deleted", async () => {
    const one = makePng();
    await put(one);
    await send(session("first", [one]));
    const job =
      how === "waits" ? await accept([session("second", [one])]) : await acceptFailed(userId, session("second", [one]));
    await deleteTrace(userId, await findId("first"), operator);
    await purgeDeleted(5);
    expect(await storedHashes()).toEqual([one.sha256]);
    await aDayLater();
    await purgeDeleted(5);
    if (how === "has failed") await replayJob(userId, job);
    await run(job);
    expect((await read("second", one)).equals(one.bytes)).toBe(true);
    await deleteTrace(userId, await findId("second"), operator);
    await purgeDeleted(5);
    expect(await storedHashes()).toEqual([]);
  });
});

test("goes, too, where a process of the release before deleted its session", async () => {
  const one = makePng();
  await put(one);
  await send(session("s", [one]));
  await pool().query("update trace set deleted_at = now()");
  await unlinkDeleted();
  await purgeDeleted(5);
  expect(await storedHashes()).toEqual([]);
});

describe("the messages of a session decide what it refers to", () => {
  test("as it grows, is replaced and shortened", async () => {
    const [one, two, three] = [makePng(), makePng(), makePng()];
    for (const picture of [one, two, three]) await put(picture);
    await send(session("s", [one]));
    await send({
      ...session("s", [], [two]),
      messages: session("s", [], [two]).messages.slice(1),
      append: { count: 1 },
    });
    expect((await read("s", one)).equals(one.bytes)).toBe(true);
    expect((await read("s", two)).equals(two.bytes)).toBe(true);
    await send(session("s", [one], [two], [three]));
    expect((await read("s", three)).equals(three.bytes)).toBe(true);
    await send({ ...session("s", [two]), replace: true });
    await expect(read("s", three)).rejects.toMatchObject(missing);
    await purgeDeleted(5);
    expect(await storedHashes()).toEqual([two.sha256]);
  });

  test("also where the picture comes after them, and where they were stored by a version without pictures", async () => {
    const one = makePng();
    await send(session("s", [one]));
    await put(one);
    expect((await read("s", one)).equals(one.bytes)).toBe(true);
    await pool().query("delete from trace_picture");
    await expect(read("s", one)).rejects.toMatchObject(missing);
    await send(session("s", [one]));
    expect((await read("s", one)).equals(one.bytes)).toBe(true);
  });

  test("bounded for each message and each trace, and nothing that is no reference counts", async () => {
    const one = makePng();
    const { perMessage, perTrace } = limits.pictures;
    const reference = (n: number) => ({ ...naming(one).pictures[0], sha256: n.toString(16).padStart(64, "0") });
    const message = (position: number, pictures: unknown) => ({ position, content: "x", metadata: { pictures } });
    const many = Array.from({ length: perTrace / perMessage + 2 }, (_, position) =>
      message(
        position,
        Array.from({ length: perMessage + 9 }, (_, n) => reference(position * 1000 + n)),
      ),
    );
    await send({ sourceId: "many", messages: many });
    await send({
      sourceId: "odd",
      messages: [
        message(0, "no list"),
        message(1, [null, 7, {}, { ...reference(1), sha256: "0".repeat(63) }]),
        message(2, [
          { ...reference(2), mediaType: "image/svg+xml" },
          { ...reference(3), bytes: 6_000_000 },
        ]),
        message(3, { length: 3 }),
        message(4, [reference(4), reference(4)]),
      ],
    });
    const { rows } = await pool().query(
      `select source_id as source, count(*)::int as count from trace_picture join trace on trace.id = trace_id group by 1 order by 1`,
    );
    expect(rows).toEqual([
      { source: "many", count: perTrace },
      { source: "odd", count: 1 },
    ]);
  });
});

test("what is masked in a session leaves its references alone", async () => {
  const one = makePng();
  await put(one);
  const secret = formed.find(([id]) => id === "github")?.[1] ?? "";
  await send({
    sourceId: "s",
    messages: [{ position: 0, role: "user", content: secret, metadata: { ...naming(one), note: secret } }],
  });
  const { rows } = await pool().query("select content, metadata from message");
  expect(rows[0].content).not.toContain(secret);
  expect(rows[0].metadata).toMatchObject(naming(one));
  expect((await read("s", one)).equals(one.bytes)).toBe(true);
});
