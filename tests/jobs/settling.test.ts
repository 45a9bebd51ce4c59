import { expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { settleProjects } from "#lib/projects/settle";
import { makeUser, provideOwner } from "../support/server.ts";

const { userId } = await provideOwner();

test("any number of projects that have to wait for the ledger keep up no other user's", async () => {
  const other = await makeUser({ name: "Bob", email: "waits@example.org", password: "" });
  await pool().query(
    `insert into project (user_id, id, name, unsettled)
     select $1::uuid, gen_random_uuid(), 'waits', 1 from generate_series(1, 300)
     union all select $2::uuid, gen_random_uuid(), 'empty', 1`,
    [userId, other],
  );
  await pool().query(
    `insert into trace (user_id, id, source, source_id, message_count, token_count, content_hash, upload_sequence, activity_at,
       project_id, ledger_due, stored_at)
     select $1, gen_random_uuid(), 'test', 'due', 0, 0, '', 0, now(), id, true, now() - interval '1 hour' from project
     where user_id = $1 limit 1`,
    [userId],
  );
  await settleProjects(10);
  const { rows } = await pool().query("select count(*)::int from project group by user_id");
  expect(rows).toEqual([{ count: 300 }]);
});
