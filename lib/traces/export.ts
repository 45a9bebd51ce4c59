import "server-only";
import { pool } from "#lib/db/client";
import { log } from "#lib/log";
import { filterSql, filterValues, presentMessage, type TraceRow, traceColumns } from "#lib/traces/queries";
import type { TraceFilter } from "#lib/traces/schema";

/** How many rows are held at a time; a message has a few kB, the longest seen 450 kB. */
const messagesAtATime = 500;
const tracesAtATime = 100;

/**
 * A user's traces as JSON lines, newest activity first: each line one trace with its messages, in the form that
 * `POST /api/ingest` takes back. Memory stays the same however many there are, and however long one is.
 * The stream ends early, with an error, where the database goes away: a cut-off line is never valid JSON.
 */
export function exportTraces(userId: string, filter: TraceFilter): ReadableStream<Uint8Array> {
  const lines = exportParts(userId, filter);
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await lines.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      } catch (error) {
        log.warn({ err: error }, "an export broke off");
        controller.error(error);
      }
    },
    async cancel() {
      await lines.return(undefined);
    },
  });
}

async function* exportParts(userId: string, filter: TraceFilter): AsyncGenerator<string, undefined> {
  let last: [Date | null, string | null] = [null, null];
  for (;;) {
    const { rows } = await pool().query<TraceRow>(
      `select ${traceColumns} from trace
       where ${filterSql} and ($7::timestamptz is null or (activity_at, id) < ($7, $8::uuid))
       order by activity_at desc, id desc limit $9`,
      [...filterValues(userId, filter), ...last, tracesAtATime],
    );
    for (const row of rows) {
      yield opening(row);
      yield* messageParts(userId, row.id);
      yield "]}\n";
      last = [row.activityAt, row.id];
    }
    if (rows.length < tracesAtATime) return;
  }
}

/** A trace's line up to its messages. Only what the client sent: a derived title would come back as one of its own. */
function opening({ sourceId, source, model, title, project, createdAt, metadata }: TraceRow): string {
  const sent = { sourceId, source, ...present({ model, title, project, createdAt, metadata }) };
  return `${JSON.stringify(sent).slice(0, -1)},"messages":[`;
}

async function* messageParts(userId: string, traceId: string): AsyncGenerator<string> {
  let after = -1;
  for (;;) {
    const { rows } = await pool().query(
      `select position, role, content, token_count as "tokenCount", created_at as "createdAt", metadata from message
       where user_id = $1 and trace_id = $2 and position > $3 order by position limit $4`,
      [userId, traceId, after, messagesAtATime],
    );
    const separator = after === -1 ? "" : ",";
    if (rows.length > 0) yield separator + rows.map((row) => JSON.stringify(present(presentMessage(row)))).join(",");
    after = rows.at(-1)?.position ?? after;
    if (rows.length < messagesAtATime) return;
  }
}

/** The fields that are not null. */
function present(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
