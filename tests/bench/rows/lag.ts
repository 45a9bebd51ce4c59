import { pool } from "#lib/db/client";
import { makeBody, makeTraces } from "../corpus.ts";
import { boundRow, key, type Row, sendPatiently } from "../measure.ts";
import type { Spoor } from "../spoor.ts";

const seconds = 60;
/** The peak load of a large team: 100 sessions of ten messages per second. */
const [sessionsPerSecond, messagesEach] = [100, 10];
const max = 5;

/** The longest time that a session waits to become searchable while uploads arrive at a steady rate. */
export async function lag(spoor: Spoor, texts: string[]): Promise<Row[]> {
  const startedAt = performance.now();
  let worst = 0;
  for (let second = 0; second < seconds; second += 1) {
    await sendPatiently(spoor, makeBody(makeTraces(texts, key(), sessionsPerSecond, messagesEach)));
    worst = Math.max(worst, await oldestWait(spoor.userId));
    const next = startedAt + (second + 1) * 1000 - performance.now();
    if (next > 0) await new Promise((resolve) => setTimeout(resolve, next));
  }
  const rate = (seconds * sessionsPerSecond * messagesEach * 1000) / (performance.now() - startedAt);
  const what = `the longest wait to be searchable, at ${Math.round(rate)} messages/s for ${seconds} s`;
  return [boundRow("lag", what, worst, max, (value) => `${value.toFixed(1)} s`)];
}

async function oldestWait(userId: string): Promise<number> {
  const { rows } = await pool().query<{ seconds: number }>(
    `select coalesce(extract(epoch from now() - min(stored_at)), 0)::float as seconds from trace
     where user_id = $1 and search_pending and deleted_at is null`,
    [userId],
  );
  return rows[0]?.seconds ?? 0;
}
