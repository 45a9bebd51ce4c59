import "server-only";
import { parseQuery } from "#lib/search/query";
import { maskValueForOthers } from "#lib/secrets/mask";
import type { Masked } from "#lib/traces/export-schema";
import { readHiddenNames } from "#lib/traces/for-others";
import { type Mask, makeMask } from "#lib/traces/masked";
import { jsonOf, readParts } from "#lib/traces/parts";
import { readTraceRows, type TraceRow } from "#lib/traces/queries";
import { sendText } from "#lib/traces/sending";
import type { Place, Selection } from "#lib/traces/sql/conditions";

/** How many are held in memory at a time; a trace may have 256 KiB of metadata. */
const tracesPerPage = 20;
/** How often the list is read again from its top for traces that moved there meanwhile; each time there are fewer. */
const maxPasses = 10;

/**
 * A user's traces as JSON lines, newest activity first: each line one trace with its messages, in the form that
 * `POST /api/ingest` takes. Each comes once; one that grows meanwhile, and so moves to the top of the list, comes at the end.
 * Parts of a MiB or a little more are read as the client consumes them, and no connection is held between two. Memory does not
 * depend on the size of a trace or a message; each trace adds an id.
 * Where the database fails, or a trace is deleted while its line is sent, the connection breaks: a truncated line is never valid
 * JSON.
 *
 * @param masked what is hidden in them, where they are for others.
 * @throws SpoorError `invalid_request` as `parseQuery`, `overloaded` as `beginRead`, before anything is sent.
 */
export async function exportTraces(
  userId: string,
  selection: Selection,
  masked?: Masked,
): Promise<ReadableStream<Uint8Array>> {
  if (selection.q !== undefined) parseQuery(selection.q);
  return sendText(userId, "export", exportParts(userId, selection, masked));
}

/** What an export takes, for people; without the filter's words, which may say what the sessions are about. */
export function describeSelection({ ids, ...filter }: Selection): string {
  if (ids && ids.length > 0) return ids.length === 1 ? "1 chosen session" : `${ids.length} chosen sessions`;
  return Object.values(filter).some((value) => value !== undefined) ? "those that match a filter" : "all";
}

/** One trace in the same form; `trace` must be of `userId`. @throws SpoorError `overloaded` as `beginRead` */
export function exportTrace(userId: string, trace: TraceRow, masked?: Masked): Promise<ReadableStream<Uint8Array>> {
  return sendText(userId, "export", traceParts(userId, trace, masked));
}

async function* exportParts(
  userId: string,
  selection: Selection,
  masked: Masked | undefined,
): AsyncGenerator<string, undefined> {
  const sent = new Set<string>();
  let top: TraceRow | undefined;
  for (let pass = 0; pass < maxPasses; pass += 1) {
    const sentBefore = sent.size;
    let first: TraceRow | undefined;
    for await (const row of rowsAbove(userId, selection, top)) {
      first ??= row;
      if (sent.has(row.id)) continue;
      sent.add(row.id);
      yield* traceParts(userId, row, masked);
    }
    if (sent.size === sentBefore) return;
    top = first;
  }
}

/** The rows of the list from its top down to `end`; all of them without it. */
async function* rowsAbove(userId: string, selection: Selection, end: TraceRow | undefined): AsyncGenerator<TraceRow> {
  let after: Place | undefined;
  for (;;) {
    const rows = await readTraceRows(userId, selection, { after, limit: tracesPerPage, patience: "wait" });
    for (const row of rows) {
      if (end && !isAbove(row, end)) return;
      yield row;
      after = row;
    }
    if (rows.length < tracesPerPage) return;
  }
}

function isAbove(one: TraceRow, other: TraceRow): boolean {
  const later = one.activityAt.getTime() - other.activityAt.getTime();
  return later > 0 || (later === 0 && one.id > other.id);
}

async function* traceParts(
  userId: string,
  row: TraceRow,
  masked: Masked | undefined,
): AsyncGenerator<string, undefined> {
  const mask = makeMask(masked, readHiddenNames(row));
  yield opening(row, mask);
  yield* messageParts(userId, row, mask);
  yield "]}\n";
}

/** A trace's line up to its messages. Without the derived title, which would be ingested as one that the client sent. */
function opening(
  { sourceId, source, model, title, project, createdAt, metadata }: TraceRow,
  mask: Mask | undefined,
): string {
  const own = { sourceId, source, ...present({ model, title, project, createdAt, metadata }) };
  const sent = mask ? maskValueForOthers(JSON.parse(JSON.stringify(own)), mask) : own;
  return `${JSON.stringify(sent).slice(0, -1)},"messages":[`;
}

/** @throws where messages are missing: a part of a trace must not pass for the whole */
async function* messageParts(
  userId: string,
  { id, messageCount }: TraceRow,
  mask: Mask | undefined,
): AsyncGenerator<string> {
  let sent = 0;
  for await (const part of readParts(userId, id)) {
    if (sent > 0 && part.messages.length > 0) yield ",";
    yield* jsonOf(userId, id, part, present, mask);
    sent += part.messages.length;
  }
  if (sent < messageCount) throw new Error("a trace was deleted or shortened while it was exported");
}

/** The fields that are not null. */
function present(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
