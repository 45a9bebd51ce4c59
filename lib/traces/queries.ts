import "server-only";
import { z } from "zod";
import { pool, prisma } from "#lib/db/client";
import { notFound, SpoorError } from "#lib/errors";
import { utcInstant } from "#lib/fields";
import { conditionsOf, queryInOrder, type Selection } from "#lib/traces/conditions";
import type { messageShape, traceShape } from "#lib/traces/schema";
import { type Place, searchTraces } from "#lib/traces/search";

export type Trace = z.input<typeof traceShape>;
export type Message = z.input<typeof messageShape>;

export type TraceRow = {
  id: string;
  source: string;
  sourceId: string;
  model: string | null;
  title: string | null;
  derivedTitle: string | null;
  project: string | null;
  createdAt: Date | null;
  activityAt: Date;
  messageCount: number;
  tokenCount: string;
  sanitized: boolean;
  metadata: Record<string, unknown> | null;
};

export const traceColumns = `id, source, source_id as "sourceId", model, title, derived_title as "derivedTitle", project,
  created_at as "createdAt", activity_at as "activityAt", message_count as "messageCount", token_count as "tokenCount",
  sanitized, metadata`;

function presentTrace(row: TraceRow): Trace {
  const { derivedTitle, activityAt, title, createdAt, tokenCount, ...rest } = row;
  return {
    ...rest,
    title: title ?? derivedTitle,
    createdAt: createdAt?.toISOString() ?? null,
    updatedAt: activityAt.toISOString(),
    tokenCount: Number(tokenCount),
  };
}

const cursorShape = z.tuple([utcInstant, z.uuid()]);

/** The place behind a trace in the list's order. */
const cursorOf = ({ activityAt, id }: TraceRow) =>
  Buffer.from(JSON.stringify([activityAt.toISOString(), id])).toString("base64url");

function readCursor(cursor: string): [string, string] {
  try {
    return cursorShape.parse(JSON.parse(Buffer.from(cursor, "base64url").toString("utf8")));
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof z.ZodError)) throw error;
    const errors = [{ path: "cursor", message: "is not one that this list gave out" }];
    throw new SpoorError("invalid_request", "The request is not valid; see errors.", { errors });
  }
}

/**
 * A page of a user's traces, newest activity first.
 *
 * @param page.cursor the `nextCursor` of the page before.
 * @throws SpoorError `invalid_request` for a cursor that no page gave out.
 */
export async function listTraces(
  userId: string,
  selection: Selection,
  page: { cursor?: string | undefined; limit: number },
): Promise<{ traces: Trace[]; nextCursor: string | null }> {
  const behind: Place | undefined = page.cursor ? readCursor(page.cursor) : undefined;
  const rows = await readTraces(userId, selection, { behind, limit: page.limit + 1 });
  const shown = rows.slice(0, page.limit);
  const last = shown.at(-1);
  return { traces: shown.map(presentTrace), nextCursor: rows.length > page.limit && last ? cursorOf(last) : null };
}

/** The rows of a user's traces behind a place of the list, newest activity first; of a search, those that it finds. */
export async function readTraces(
  userId: string,
  selection: Selection,
  { behind, limit }: { behind?: Place | undefined; limit: number },
): Promise<TraceRow[]> {
  const { q, ...plain } = selection;
  const ids = q === undefined ? plain.ids : await searchTraces(userId, selection, { behind, limit });
  const { where, values } = conditionsOf(userId, { ...plain, ids });
  const rest =
    behind &&
    q === undefined &&
    `and (activity_at, id) < ($${values.push(behind[0])}, $${values.push(behind[1])}::uuid)`;
  const { rows } = await queryInOrder<TraceRow>(
    `select ${traceColumns} from trace where ${where} ${rest || ""}
     order by activity_at desc, id desc limit $${values.push(limit)}`,
    values,
  );
  return rows;
}

/** One trace of a user. @throws SpoorError `not_found`, for a deleted one and for another user's as well */
export async function getTrace(userId: string, traceId: string): Promise<Trace> {
  return presentTrace(await getTraceRow(userId, traceId));
}

/** The same as it is stored. @throws SpoorError `not_found` as `getTrace` */
export async function getTraceRow(userId: string, traceId: string): Promise<TraceRow> {
  const { rows } = await pool().query<TraceRow>(
    `select ${traceColumns} from trace where user_id = $1 and id = $2 and deleted_at is null`,
    [userId, traceId],
  );
  const [row] = rows;
  if (!row) throw notFound();
  return row;
}

/** Whether a user has a trace that isn't deleted. Messages of a deleted one may still be there until they are purged. */
export const hasTrace = async (userId: string, traceId: string): Promise<boolean> =>
  (await prisma().trace.count({ where: { userId, id: traceId, deletedAt: null } })) > 0;
