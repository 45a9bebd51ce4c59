import { beforeEach, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { readNews } from "../../app/(app)/home/news.ts";
import { owner, provideOwner } from "../support/server.ts";
import { getUploads } from "./uploads.ts";

const { userId } = await provideOwner();
const { send } = getUploads(userId);
const hourMs = 3_600_000;
const now = new Date();

beforeEach(async () => {
  await pool().query("delete from trace");
  await pool().query("update \"user\" set seen_at = now() - interval '8 hours', news_since = null");
});

/** A session that ended so many hours ago; one without a date where that is undefined. */
const session = (sourceId: string, hoursAgo: number | undefined, metadata: object = {}) => ({
  ...{ source: "claude-code", sourceId, title: sourceId, metadata },
  messages: [
    {
      ...{ position: 0, role: "assistant", content: `words of ${sourceId}` },
      ...(hoursAgo !== undefined && { createdAt: new Date(now.getTime() - hoursAgo * hourMs).toISOString() }),
    },
  ],
});

async function news() {
  await accountTraces(20);
  const { live, fresh, earlier, count, more } = await readNews({ ...owner, id: userId } as never, "UTC", now);
  const names = [live, fresh, earlier].map((sessions) => sessions.map(({ title }) => title));
  return { live: names[0], fresh: names[1], earlier: names[2], count, more };
}

test("home counts as new what it lists as new: a session that went on in another one is", async () => {
  await send(session("old", 100), session("next", 2, { continues: "old" }), session("own", 3), session("before", 50));
  expect(await news()).toEqual({ live: [], fresh: ["old", "own"], earlier: ["before"], count: 2, more: 0 });
});

test("home leaves out what the list does: archived sessions and those without content", async () => {
  await send(session("kept", 2), session("archived", 1), session("empty", 1, { kind: "trivial" }));
  await pool().query("update trace set archived_at = now() where source_id = 'archived'");
  expect(await news()).toEqual({ live: [], fresh: ["kept"], earlier: [], count: 1, more: 0 });
});

test("home tells of a running session whatever came in without a date since", async () => {
  await send(session("running", 0), session("earlier", 30));
  await send(...Array.from({ length: 14 }, (_, at) => session(`undated ${at}`, undefined)));
  const { live, fresh, earlier = [] } = await news();
  expect([live, fresh, earlier[0], earlier.length]).toEqual([["running"], [], "earlier", 11]);
});
