// `npm run bench:questions -- FILE`: whether searches for known moments find their sessions and messages, in an archive that is not
// part of this repository. FILE, or the variable QUESTIONS_DATA, is an upload's body (`{"traces": […]}`, gzipped or not).
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import { createOwner, findOwner } from "#lib/auth/accounts";
import { operator } from "#lib/auth/audit";
import { openSetup } from "#lib/auth/setup";
import { setEnv } from "#lib/core/env";
import { closeDatabase, pool } from "#lib/db/client";
import { acceptBatch } from "#lib/ingest/accept/batch";
import { runJob } from "#lib/ingest/process/run-job";
import { indexNext } from "#lib/search/index/indexer";
import { rankTraces } from "#lib/search/rank-traces";
import { prepareDatabase, prepareSchema } from "#server/commands/database";
import { percentile } from "./measure.ts";

/** `q` is asked; the answer is the session with this source id, and any of the messages at these positions. */
type Question = { q: string; sourceId: string; positions: number[] };

const bounds = { sessions: 0.9, messages: 0.75 };
/** Among so many first sessions the right one must be, and the right message among its excerpts. */
const first = 3;

const { values, positionals } = parseArgs({
  options: { verbose: { type: "boolean", default: false } },
  allowPositionals: true,
});
const path = positionals[0] ?? process.env.QUESTIONS_DATA;
if (!path || !existsSync(path)) {
  console.error("The sessions that the questions are about are not in this repository: give their file's path.");
  process.exit(2);
}

const questions: Question[] = JSON.parse(await readFile(new URL("../search/questions.json", import.meta.url), "utf8"));
const folder = await mkdtemp(join(tmpdir(), "spoor-questions-"));
setEnv({ DATABASE_URL: undefined, DATA_DIR: folder, LOG_LEVEL: "error" });
const database = await prepareDatabase();
await prepareSchema();

/** Stores and indexes the sessions. @returns their owner */
async function provide(file: string): Promise<string> {
  const link = await openSetup();
  const token = new URL(link ?? "").searchParams.get("token") ?? "";
  await createOwner(token, { name: "Bench", email: "bench@example.org", password: "not a secret at all" }, operator);
  const userId = (await findOwner()) ?? "";
  const bytes = await readFile(file);
  const body = bytes.subarray(0, 2).toString("hex") === "1f8b" ? gunzipSync(bytes) : bytes;
  await runJob({ userId, jobId: await acceptBatch({ userId, machine: "bench" }, body, "identity", undefined) });
  const startedAt = performance.now();
  while ((await indexNext()) > 0);
  const { rows } = await pool().query(
    "select pg_total_relation_size('search_bucket')::float8 as index, (select sum(octet_length(content)) from message)::float8 as text, (select count(*) from message)::float8 as count",
  );
  const [{ index, text, count }] = rows;
  const perSecond = Math.round(count / ((performance.now() - startedAt) / 1000));
  console.log(`${count} messages, ${perSecond} indexed a second, index ${(index / text).toFixed(2)} of the text`);
  return userId;
}

async function ask(userId: string): Promise<{ sessions: number; messages: number }> {
  let [sessions, messages] = [0, 0];
  const taken: number[] = [];
  for (const { q, sourceId, positions } of questions) {
    const startedAt = performance.now();
    const { traces, found } = await rankTraces(userId, { q });
    taken.push(performance.now() - startedAt);
    const ids = traces.slice(0, first).map(({ id }) => id);
    const { rows } = await pool().query<{ id: string; sourceId: string }>(
      `select id, source_id as "sourceId" from trace where user_id = $1 and id = any($2)`,
      [userId, ids],
    );
    const right = rows.find((row) => row.sourceId === sourceId)?.id;
    const shown = right ? (found.get(right)?.excerpts.map(({ position }) => position) ?? []) : [];
    const hasMessage = shown.some((position) => positions.includes(position));
    if (right) sessions += 1;
    if (hasMessage) messages += 1;
    if (values.verbose && !hasMessage)
      console.log(
        `${right ? "message" : "SESSION"}: ${q} → ${right ? shown : ids.length}, not ${sourceId} ${positions}`,
      );
  }
  console.log(`p50 ${Math.round(percentile(taken, 0.5))} ms, p95 ${Math.round(percentile(taken, 0.95))} ms`);
  return { sessions: sessions / questions.length, messages: messages / questions.length };
}

try {
  const { sessions, messages } = await ask(await provide(path));
  const percent = (share: number) => `${Math.round(share * 100)} %`;
  console.log(`${questions.length} questions: the right session among the first ${first} for ${percent(sessions)}`);
  console.log(`the right message among its excerpts for ${percent(messages)}`);
  process.exitCode = sessions >= bounds.sessions && messages >= bounds.messages ? 0 : 1;
} finally {
  await closeDatabase();
  await database.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exit();
