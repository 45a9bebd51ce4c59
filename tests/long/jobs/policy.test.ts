import { expect, test } from "vitest";
import { limits } from "#lib/core/limits";
import { pool } from "#lib/db/client";
import { everywhere, readPolicy } from "#lib/masking/policy";
import { provideOwner } from "../../support/server.ts";

const { userId } = await provideOwner();

/** The processor time of this thread that some work takes, in milliseconds: the least of five times. */
async function leastMs(work: () => Promise<unknown>): Promise<number> {
  const taken: number[] = [];
  for (let times = 0; times < 5; times += 1) {
    const before = process.threadCpuUsage();
    await work();
    const { user, system } = process.threadCpuUsage(before);
    taken.push((user + system) / 1000);
  }
  return Math.min(...taken);
}

test("the policy of a user with as many rulings as can be is read for each upload in some milliseconds", async ({
  annotate,
}) => {
  const { secretRulings } = limits.traces;
  await pool().query("insert into secret_policy (user_id, version) values ($1, 1)", [userId]);
  await pool().query(
    `insert into secret_ruling (user_id, kind, mark, trace_id, verdict, source, source_id)
     select $1, 'github', lpad(to_hex(n), 8, '0'), $3, 'keep', 'pi', 's' || n from generate_series(1, $2::int) n`,
    [userId, secretRulings, everywhere],
  );
  expect((await readPolicy(userId)).rulings).toHaveLength(secretRulings);
  const ms = await leastMs(() => readPolicy(userId));
  await annotate(`${Math.round(ms)} ms of the event loop`);
  expect(ms).toBeLessThan(50);
});
