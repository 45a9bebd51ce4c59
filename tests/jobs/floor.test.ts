import { expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { generation, refuseNewer } from "#lib/db/sql/floor";
import { checkReadiness } from "#lib/observability/readiness";
import { provideOwner } from "../support/server.ts";

await provideOwner();

test("where a newer version has stored what this one can't read, this one neither starts nor is ready", async () => {
  const raise = (to: number) =>
    pool().query(
      "insert into server_setting (key, value) values ('generation', $1) on conflict (key) do update set value = $1",
      [to],
    );
  await refuseNewer();
  await raise(generation);
  await refuseNewer();
  await raise(generation + 1);
  await expect(refuseNewer()).rejects.toThrow("Start the newer version");
  expect((await checkReadiness()).checks.migrations).toEqual({
    ok: false,
    detail: expect.stringContaining("newer version"),
  });
});
