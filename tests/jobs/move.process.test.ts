import { afterAll, expect, test } from "vitest";
import { setEnv } from "#lib/core/env";
import { EnvError } from "#lib/core/errors";
import { pool } from "#lib/db/client";
import { copyRows, expectEmpty } from "#lib/db/sql/copy";
import { freshDatabase, switchDatabase, testEnvironment } from "../support/database.ts";
import { trace } from "../support/ingesting.ts";
import { makeUser, setupToken } from "../support/server.ts";
import { getUploads } from "./uploads.ts";

const target = await freshDatabase();
const source = await freshDatabase();
afterAll(async () => {
  await source.drop();
  await target.drop();
});

test("every row of a database is copied to an empty one, which is empty no more", async () => {
  setEnv({ SETUP_TOKEN: setupToken });
  const userId = await makeUser();
  await getUploads(userId).send(trace("moved", "a message", "and another"));
  await expectEmpty(target.url);
  await expect(expectEmpty(source.url)).rejects.toThrow(EnvError);
  const said: string[] = [];
  const copied = await copyRows(source.url, target.url, (line) => said.push(line));
  expect(said).toContain("  message: 2 rows");
  expect(copied).toBe(said.reduce((sum, line) => sum + Number(/: (\d+) rows/.exec(line)?.[1]), 0));
  await expect(expectEmpty(target.url)).rejects.toThrow("The target is not empty");

  await switchDatabase({ ...testEnvironment, DATABASE_URL: target.url });
  expect((await getUploads(userId).stored("moved"))?.contents).toEqual(["a message", "and another"]);
  const { rows } = await pool().query<{ next: string }>(
    "select nextval(pg_get_serial_sequence('ingest_job', 'sequence')) as next",
  );
  expect(Number(rows[0]?.next)).toBeGreaterThan(1); // what is sent next comes after what was copied
});
