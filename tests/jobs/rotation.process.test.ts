import { expect, test } from "vitest";
import { setEnv } from "#lib/core/env";
import { pool } from "#lib/db/client";
import { rotateKeys } from "#lib/ingest/raw/rotation";
import { waitingForLocks } from "../support/meanwhile.ts";
import { makeBody, makeKey, provideStore, use } from "./rotating.ts";

const { userId, s3, send, expectReadable, expectProcessed, hold } = await provideStore();
const [old, first, lost] = [makeKey(), makeKey(), makeKey()];

test("objects get the first key, also after it failed; those from before a key stay readable", async () => {
  const bodies = [20_000, 30_000, 40_000, 300_000].map(makeBody);
  const jobs = [await send(bodies[0] ?? "")];
  use(old);
  for (const body of bodies.slice(1)) jobs.push(await send(body));
  use(first, old);
  s3.setMood("forbidden");
  await expect(rotateKeys()).rejects.toThrow();
  s3.setMood("well");
  expect(await rotateKeys()).toEqual({ sealed: 3, left: 1, unreadable: 0 });
  expect(await rotateKeys()).toEqual({ sealed: 0, left: 1, unreadable: 0 });
  use(first);
  await expectReadable(jobs, bodies);
  await expectProcessed(jobs);
});

test("a call that is cut off half-way leaves all readable, and the next one ends its work", async () => {
  // The third is in the database, and has more than is sealed in one piece.
  const bodies = [20_000, 300_000, 3_000_000, 30_000, 300_001].map(makeBody);
  const jobs: string[] = [];
  use(old);
  for (const [index, body] of bodies.entries()) {
    setEnv({ UPLOAD_STORE: index === 2 ? "postgres" : "s3" });
    jobs.push(await send(body));
  }
  const letGo = await hold(jobs[2]);
  use(first, old);
  const rotating = rotateKeys().catch((error: Error) => error);
  await expect.poll(waitingForLocks).toBe(1);
  await pool().query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  );
  expect(await rotating).toBeInstanceOf(Error);
  letGo();
  await expectReadable(jobs, bodies);
  expect(await rotateKeys()).toEqual({ sealed: 3, left: 0, unreadable: 0 });
  expect(await rotateKeys()).toEqual({ sealed: 0, left: 0, unreadable: 0 });
  use(first);
  await expectReadable(jobs, bodies);
  await expectProcessed(jobs);
});

test("bodies whose key is lost, or that were changed, are told, and keep up none of the others", async () => {
  use(lost);
  await send(makeBody(20_000));
  setEnv({ UPLOAD_STORE: "postgres" });
  await send(makeBody(30_000));
  use(old);
  const changed = await send(makeBody(40_000));
  await pool().query("update upload set body = set_byte(body, 100, 255 - get_byte(body, 100)) where job_id = $1", [
    changed,
  ]);
  const bodies = [makeBody(50_000), makeBody(60_000)];
  const jobs = [await send(bodies[0] ?? "")];
  setEnv({ UPLOAD_STORE: "s3" });
  jobs.push(await send(bodies[1] ?? ""));
  use(first, old);
  expect(await rotateKeys()).toEqual({ sealed: 2, left: 0, unreadable: 3 });
  use(first);
  await expectReadable(jobs, bodies);
});

test("an object whose upload ends meanwhile is removed once more", async () => {
  use(old);
  setEnv({ UPLOAD_STORE: "postgres" });
  const held = await send(makeBody(20_000));
  setEnv({ UPLOAD_STORE: "s3" });
  const ended = await send(makeBody(30_000));
  use(first, old);
  const letGo = await hold(held);
  const rotating = rotateKeys();
  await expect.poll(waitingForLocks).toBe(1);
  await pool().query("delete from ingest_job where user_id = $1 and id = $2", [userId, ended]);
  letGo();
  expect(await rotating).toEqual({ sealed: 2, left: 0, unreadable: 0 });
  const { rows } = await pool().query("select key from object_removal");
  expect(rows).toEqual([{ key: `uploads/${userId}/${ended}.zst` }]);
});
