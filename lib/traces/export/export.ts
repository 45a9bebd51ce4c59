import "server-only";
import { maskValueForOthers } from "#common/secrets/mask";
import { sendText } from "#lib/http/send-stream";
import { readHiddenNames } from "#lib/masking/for-others";
import { type Mask, type MaskLevel, makeMask } from "#lib/masking/mask-pieces";
import { readParts, writeMessagesJson } from "#lib/messages/message-parts";
import { parseQuery } from "#lib/search/query";
import type { ListPlace, Selection } from "#lib/search/sql/selection";
import { readTraceRows, type TraceRow } from "#lib/traces/queries";

const tracesPerPage = 20;
/** The list is read again for traces that moved to its top meanwhile. */
const maxPasses = 10;

/**
 * If a trace is deleted meanwhile, the connection breaks: a truncated line is never valid JSON.
 * @throws SpoorError `invalid_request` as `parseQuery`, `overloaded` as `beginRead`, before anything is sent
 */
export async function exportTraces(
  userId: string,
  selection: Selection,
  masked?: MaskLevel,
): Promise<ReadableStream<Uint8Array>> {
  if (selection.q !== undefined) parseQuery(selection.q);
  return sendText(userId, "export", exportParts(userId, selection, masked));
}

/** The filter's words may reveal what sessions are about. */
export function describeSelection({ ids, ...filter }: Selection): string {
  if (ids && ids.length > 0) return ids.length === 1 ? "1 chosen session" : `${ids.length} chosen sessions`;
  return Object.values(filter).some((value) => value !== undefined) ? "those that match a filter" : "all";
}

/**
 * `trace` must belong to `userId`.
 * @throws SpoorError `overloaded` as `beginRead`
 */
export function exportTrace(userId: string, trace: TraceRow, masked?: MaskLevel): Promise<ReadableStream<Uint8Array>> {
  return sendText(userId, "export", traceParts(userId, trace, masked));
}

async function* exportParts(
  userId: string,
  selection: Selection,
  masked: MaskLevel | undefined,
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

async function* rowsAbove(userId: string, selection: Selection, end: TraceRow | undefined): AsyncGenerator<TraceRow> {
  let after: ListPlace | undefined;
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
  masked: MaskLevel | undefined,
): AsyncGenerator<string, undefined> {
  const mask = makeMask(masked, readHiddenNames(row));
  yield opening(row, mask);
  yield* messageParts(userId, row, mask);
  yield "]}\n";
}

/** A derived title would be ingested as one that the client sent. */
function opening(
  { sourceId, source, model, title, project, createdAt, metadata }: TraceRow,
  mask: Mask | undefined,
): string {
  const own = { sourceId, source, ...present({ model, title, project, createdAt, metadata }) };
  const sent = mask ? maskValueForOthers(JSON.parse(JSON.stringify(own)), mask) : own;
  return `${JSON.stringify(sent).slice(0, -1)},"messages":[`;
}

/** @throws if messages are missing, so that a part is not taken for the whole */
async function* messageParts(
  userId: string,
  { id, messageCount }: TraceRow,
  mask: Mask | undefined,
): AsyncGenerator<string> {
  let sent = 0;
  for await (const part of readParts(userId, id)) {
    if (sent > 0 && part.messages.length > 0) yield ",";
    yield* writeMessagesJson(userId, id, part, present, mask);
    sent += part.messages.length;
  }
  if (sent < messageCount) throw new Error("a trace was deleted or shortened while it was exported");
}

function present(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
