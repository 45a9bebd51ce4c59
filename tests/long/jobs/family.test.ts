import { describe, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { getUploads } from "../../jobs/uploads.ts";
import { provideOwner } from "../../support/server.ts";

const { userId } = await provideOwner();
const { send } = getUploads(userId);
const account = () => accountTraces(30);

const session = (sourceId: string, metadata: Record<string, unknown>) => ({
  source: "claude-code",
  sourceId,
  metadata,
  messages: [{ position: 0, content: "words", createdAt: "2026-03-02T10:00:00Z" }],
});

describe("a circle hides nothing", () => {
  test("of a chain of thousands, which is bounded", { timeout: 60_000 }, async () => {
    const chain = Array.from({ length: 900 }, (_, n) => session(`n${n}`, { parent: `n${(n + 1) % 900}` }));
    await send(...chain);
    const startedAt = performance.now();
    await account();
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    const { rows } = await pool().query(
      `with recursive reached as (
         select id from trace where user_id = $1 and parent_id is null
         union all select trace.id from reached join trace on trace.user_id = $1 and trace.parent_id = reached.id
       ) select count(*)::int as count from reached`,
      [userId],
    );
    expect(rows).toEqual([{ count: 900 }]);
  });
});
