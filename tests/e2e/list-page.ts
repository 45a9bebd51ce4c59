import { pool } from "#lib/db/client";
import { provideBrowser, signIn } from "../support/browser.ts";
import { makeUser, owner, provideServer } from "../support/server.ts";

/** A server whose owner is signed in, and the list's parts on its page; `on` names another page. */
export async function provideList() {
  const server = await provideServer({ worker: false });
  const userId = await makeUser();
  const flow = await provideBrowser();
  const { page } = flow;
  await signIn(page, server, owner);

  const list = (on = page) => on.getByRole("list", { name: "Sessions" });
  return {
    server,
    ...flow,
    open: (path = "/traces", on = page) => on.goto(server.url + path),
    link: (name: string | RegExp, on = page) => on.getByRole("link", { name, exact: typeof name === "string" }),
    rows: (on = page) => list(on).getByRole("listitem"),
    boxes: (on = page) => list(on).getByRole("checkbox"),
    menu: (name: string, on = page) => on.locator("#filters summary", { hasText: name }),
    query: (on = page) => new URL(on.url()).search,
    store: (from: number, to: number) => storeSessions(userId, from, to),
    storeFamily: () => storeFamily(userId),
    /** Replaces all sessions by so many, newest last, which is Session 120. */
    reset: async (count = 120) => {
      await pool().query("delete from trace");
      await storeSessions(userId, 121 - count, 120);
    },
  };
}

/** Stores sessions `from` to `to`, newest last, each with one message. */
async function storeSessions(userId: string, from: number, to: number): Promise<void> {
  await pool().query(
    `with made as (
       insert into trace (user_id, id, source, source_id, title, model, project, machine, message_count, token_count,
         content_hash, upload_sequence, activity_at)
       select $1, gen_random_uuid(), case n % 3 when 0 then 'codex-cli' else 'claude-code' end, n, 'Session ' || n,
         'model-' || n % 2, 'project-' || n % 5, 'ada-laptop', 1, 1200 * n, '', 1, now() - make_interval(mins => 2000 - n)
       from generate_series($2::int, $3::int) n returning id
     ) insert into message (user_id, trace_id, position, role, content) select $1, id, 0, 'user', 'text' from made`,
    [userId, from, to],
  );
}

/** Two sub-agents and a fork of Session 120, whose second message is the result of the first one's work. */
async function storeFamily(userId: string): Promise<void> {
  await pool().query(
    `with parent as (
       select id, activity_at from trace where user_id = $1 and title = 'Session 120'
     ), said as (
       insert into message (user_id, trace_id, position, role, content, metadata)
       select $1, parent.id, position, 'assistant', content, metadata from parent, (values
         (1, 'Look for flaky tests', '{"tool":{"name":"Task","callId":"c","input":{"description":"Look for flaky tests"},"content":"call"}}'::jsonb),
         (2, 'Three tests are flaky.', '{"result":{"callId":"c","session":"family-1"}}'::jsonb)) as made (position, content, metadata)
     ), made as (
       insert into trace (user_id, id, source, source_id, title, message_count, token_count, content_hash, upload_sequence,
         created_at, activity_at, cost_nano, parent_source_id, parent_relation, parent_id, parent_position)
       select $1, gen_random_uuid(), 'codex-cli', 'family-' || n, relation || ' number ' || n, 40 * n, 12000, '', 1,
         activity_at - interval '7 minutes', activity_at, 420000000, 'parent', relation, parent.id, case n when 1 then 2 end
       from parent, (values (1, 'subagent'), (2, 'subagent'), (3, 'fork')) as made (n, relation) returning id
     ) insert into message (user_id, trace_id, position, role, content) select $1, id, 0, 'user', 'text' from made`,
    [userId],
  );
  await pool().query("update trace set message_count = 3, cost_nano = 1230000000 where title = 'Session 120'");
  await pool().query(
    `update trace set source = 'codex-cli', created_at = activity_at - interval '2 hours' where title = 'Session 120'`,
  );
}
