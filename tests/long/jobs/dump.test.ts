import { afterAll, expect, test } from "vitest";
import { setEnv } from "#lib/core/env";
import { pool } from "#lib/db/client";
import { endThreads } from "#lib/ingest/decode/thread-pool";
import { getUploads } from "../../jobs/uploads.ts";
import { freshDatabase, switchDatabase, testEnvironment } from "../../support/database.ts";
import { canDump, dump, restore, startDumped } from "../../support/dump.ts";
import { makeUser, setupToken } from "../../support/server.ts";

const database = canDump ? await startDumped() : await freshDatabase();
setEnv({ SETUP_TOKEN: setupToken });
const userId = await makeUser();
const { send } = getUploads(userId);
afterAll(async () => {
  await endThreads();
  await switchDatabase({ ...testEnvironment, DATABASE_URL: database.url });
  await database.drop();
});

const session = (sourceId: string) => ({
  sourceId,
  messages: Array.from({ length: 200 }, (_, position) => ({ position, content: `${sourceId} ${position}`.repeat(50) })),
});

test.skipIf(!canDump)(
  "a dump that is made while uploads arrive has all that was acknowledged before, each session whole",
  async () => {
    for (let n = 0; n < 20; n += 1) await send(session(`before ${n}`));
    let isDumped = false;
    let sent = 0;
    const sending = (async () => {
      for (; !isDumped; sent += 1) await send(session(`meanwhile ${sent}`));
    })();
    const { path } = await dump(database.url);
    isDumped = true;
    await sending;
    expect(sent).toBeGreaterThan(0);

    const url = await restore(path, `restored_${crypto.randomUUID().replaceAll("-", "")}`);
    await switchDatabase({ ...testEnvironment, DATABASE_URL: url });
    const { rows } = await pool().query<{ source_id: string; stored: number }>(
      `select source_id, count(*)::int as stored from trace join message on message.user_id = trace.user_id
       and trace_id = trace.id group by trace.id, source_id, message_count having message_count = count(*)`,
    );
    const names = rows.map(({ source_id }) => source_id);
    for (let n = 0; n < 20; n += 1) expect(names).toContain(`before ${n}`);
    expect((await pool().query("select from trace")).rowCount).toBe(rows.length);
    const { rowCount } = await pool().query(
      "select from ingest_job where status = 'succeeded' and not written_trace_ids <@ (select array_agg(id) from trace)",
    );
    expect(rowCount).toBe(0);
  },
);
