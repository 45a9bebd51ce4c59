// The sessions of a home in the ledger, and its sums of them.
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import type { Host } from "../../cli/adapters/adapter.ts";
import { adapters } from "../../cli/adapters/registry.ts";
import { parseAll } from "../cli/home.ts";
import { add, makeKey, type Sums } from "../proof/sums.ts";
import { getUploads } from "./uploads.ts";

/** Reads the ledger's sums by agent, model and day. @param sourceIds of the sessions that count; by default all */
export async function readSums(userId: string, sourceIds?: string[]): Promise<Sums> {
  const { rows } = await pool().query(
    `select t.source, u.model, to_char(u.at at time zone 'UTC', 'YYYY-MM-DD') as day, u.input_tokens::int as input,
       u.output_tokens::int as output, u.cache_read_tokens::int as read,
       (u.cache_write_5m_tokens + u.cache_write_1h_tokens)::int as written, u.cost_nano as nano
     from message_usage u join trace t on t.user_id = u.user_id and t.id = u.trace_id
     where u.user_id = $1 and u.counted and ($2::text[] is null or t.source_id = any($2))`,
    [userId, sourceIds ?? null],
  );
  const sums: Sums = new Map();
  for (const { source, model, day, input, output, read, written, nano } of rows) {
    const cost = nano === null ? undefined : BigInt(nano);
    add(sums, makeKey(source, model ?? "", day), { input, output, cacheRead: read, cacheWrite: written, nano: cost });
  }
  return sums;
}

/** Sends all sessions of a home, and accounts for them. @returns their source ids */
export async function sendSessions(userId: string, host: Host): Promise<string[]> {
  const traces = [];
  for (const adapter of adapters) {
    for (const { source, sourceId, messages, ending } of (await parseAll(adapter, host)).sessions) {
      traces.push({ ...ending, source, sourceId, messages: messages.map((one, position) => ({ position, ...one })) });
    }
  }
  await getUploads(userId).send(...traces);
  await accountTraces(60);
  return traces.map(({ sourceId }) => sourceId);
}
