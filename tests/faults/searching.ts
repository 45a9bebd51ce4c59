import { expect } from "vitest";
import type { Bench, Fault, Outcome } from "./fault.ts";
import type { SentTrace } from "./model.ts";
import type { Spoor } from "./spoor.ts";
import { countUnindexed, seconds, timed, until, waitForIndex } from "./wait.ts";

/** The tables of the index, in the order in which a batch writes them. */
const tables = ["search_block", "search_bucket", "search_document"];

/** A word that occurs in one session only. */
const makeWord = (n: number) => `needle${n}q`;

function sessionWith(bench: Bench, n: number): SentTrace {
  const trace = bench.trace(4);
  const said = { position: 4, role: "user", content: `${trace.sourceId} says ${makeWord(n)}` };
  return { ...trace, messages: [...trace.messages, said] };
}

/** Makes every write to a table fail, or block so that a worker can be killed during it. */
async function breakTable(spoor: Spoor, table: string, way: "fails" | "hangs"): Promise<void> {
  const body = way === "fails" ? "raise exception 'broken'" : "perform pg_sleep(600)";
  await spoor.db.query(
    `create function break_${table}() returns trigger language plpgsql as $$ begin ${body}; return new; end $$;
     create trigger broken before insert or update or delete on ${table} for each row execute function break_${table}()`,
  );
}

const mendTable = (spoor: Spoor, table: string) => spoor.db.query(`drop function break_${table} cascade`);

const isWriting = (spoor: Spoor) =>
  until(30, "the index is being written", async () => {
    const { rowCount } = await spoor.db.query("select 1 from pg_stat_activity where wait_event = 'PgSleep'");
    return rowCount !== 0;
  });

/** The index cannot be written, is locked, and its worker is killed in the middle of each step. */
async function searchFails(bench: Bench): Promise<Outcome> {
  return bench.withSpoor({}, async (spoor) => {
    const sent: SentTrace[] = [];
    const upload = async () => {
      const session = sessionWith(bench, sent.length);
      sent.push(session);
      const { ms } = await timed(async () => spoor.jobIs(await spoor.upload([session]), "succeeded"));
      return ms;
    };
    const times: number[] = [];
    const broken = bench.quick ? tables.slice(-1) : tables;
    const failures = () =>
      spoor.processes.flatMap(({ output }) => output.match(/indexing failed and is retried/g) ?? []);
    for (const table of broken) {
      await breakTable(spoor, table, "fails");
      times.push(await upload());
      const before = failures().length;
      await until(30, "indexing has failed", () => failures().length > before);
      expect(await countUnindexed(spoor.db)).toBe(1);
      await mendTable(spoor, table);
      await waitForIndex(spoor.db);
    }

    const locker = await spoor.db.connect();
    await locker.query(`begin; lock table ${tables.join(", ")} in access exclusive mode`);
    times.push(await upload());
    await locker.query("rollback");
    locker.release();

    for (const table of broken) {
      await breakTable(spoor, table, "hangs");
      times.push(await upload());
      await isWriting(spoor);
      await spoor.processes.find((one) => one !== spoor.web && one.isAlive)?.kill();
      await spoor.db.query("select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'PgSleep'");
      await mendTable(spoor, table);
      await spoor.startWorker();
    }
    const { ms } = await timed(() => waitForIndex(spoor.db));
    for (const [n, { sourceId }] of sent.entries()) {
      const { traces } = await spoor.read(`/api/traces?q=${makeWord(n)}`);
      expect(traces.map((one: { sourceId: string }) => one.sourceId)).toEqual([sourceId]);
    }
    const compared = await spoor.check();
    return {
      injected: `writes of ${broken.join(", ")} fail; a lock on all tables of the index; SIGKILL of the worker within its write of each`,
      outcome: `each upload succeeded, within ${seconds(Math.max(...times))}; ${seconds(ms)} after the last every session was found by its word, exactly once; ${compared}`,
    };
  });
}

export const searchFaults: Fault[] = [
  { name: "search", title: "The search index fails", group: "processes", quick: true, run: searchFails },
];
