import { createHash } from "node:crypto";
import type pg from "pg";
import { indexIn } from "./requests.ts";

/**
 * What the accepted batches must have led to: a simple model with JSON.parse and a map, which shares no code with the server.
 */

type Sent = Record<string, unknown> & { messages: (Record<string, unknown> & { position: number; content: string })[] };
type Expected = { digest: string; messages: number; sent: Sent };

const clean = (text: string) => text.toWellFormed().replaceAll("\0", "\ufffd");
const orNull = (value: unknown) => (typeof value === "string" ? clean(value) : null);
const time = (value: unknown) => (typeof value === "string" ? Date.parse(inUsualForm(value)) : null);

/** A time with upper-case letters and minutes in its offset, as JavaScript parses it. */
const inUsualForm = (text: string) =>
  text
    .toUpperCase()
    .replace(/([+-]\d{2})(\d{2})$/, "$1:$2")
    .replace(/([+-]\d{2})$/, "$1:00");

/** A value with storable texts, sorted keys, and without `__proto__`. */
function plain(value: unknown): unknown {
  if (typeof value === "string") return clean(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(plain);
  const keys = Object.keys(value)
    .filter((key) => key !== "__proto__")
    .sort();
  const fields = new Map(keys.map((key) => [clean(key), plain((value as Record<string, unknown>)[key])]));
  return [...fields].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Unknown fields and `metadata`, which takes precedence; null if there are none. */
function rest(sent: Record<string, unknown>, known: string[]): unknown {
  const unknown = Object.entries(sent).filter(([key]) => !known.includes(key) && key !== "__proto__");
  const { metadata } = sent;
  if (unknown.length === 0 && metadata === undefined) return null;
  return plain({ ...Object.fromEntries(unknown), ...(metadata as object | undefined) });
}

const messageFields = ["position", "content", "role", "tokenCount", "createdAt", "metadata"];
const ownFields = ["model", "title", "project", "createdAt"];
const traceFields = ["sourceId", "source", "messages", ...ownFields, "replace", "append", "metadata"];

const computeDigest = (value: unknown) => createHash("sha256").update(JSON.stringify(value)).digest("base64");

function computeExpected(sent: Sent): Expected {
  const messages = sent.messages
    .toSorted((a, b) => a.position - b.position)
    .map((one) => [
      one.position + 0,
      clean(one.content),
      orNull(one.role),
      one.tokenCount === undefined ? null : (one.tokenCount as number) + 0,
      time(one.createdAt),
      rest(one, messageFields),
    ]);
  const own = [
    orNull(sent.title),
    orNull(sent.model),
    orNull(sent.project),
    time(sent.createdAt),
    rest(sent, traceFields),
  ];
  return { digest: computeDigest([own, messages]), messages: messages.length, sent };
}

/** What an append makes of a trace; undefined where it does not fit. */
function appendedTo(before: Sent | undefined, sent: Sent): Sent | undefined {
  const { append, ...more } = sent;
  const { count } = append as { count: number };
  const taken = new Set(before?.messages.map(({ position }) => position));
  if ((before?.messages.length ?? 0) !== count + 0) return undefined;
  if (!before || more.messages.some(({ position }) => taken.has(position))) return before ? undefined : more;
  const other = rest(more, traceFields) === null ? before : { ...pick(before, ownFields), ...more };
  return { ...other, ...pick(more, ownFields), messages: [...before.messages, ...more.messages] };
}

const pick = (sent: Sent, names: string[]) =>
  Object.fromEntries(Object.entries(sent).filter(([name]) => names.includes(name)));

export class Model {
  readonly #expected = new Map<string, Expected>();
  /** Cases of which an unknown batch was accepted: a damaged body that was still valid. */
  readonly #unknown = new Set<number>();
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** Applies a batch that the server accepted, in the order of a case's calls. */
  take(userId: string, index: number, marker: string, batch: Buffer | undefined): void {
    if (!batch) {
      this.#unknown.add(index);
      return;
    }
    const { traces } = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(batch));
    const last = new Map<string, Sent>();
    for (const trace of traces as Sent[]) {
      // Without the marker it may also be another case's trace.
      if (`${trace.sourceId}`.includes(marker))
        last.set(`${userId} ${trace.source ?? "unknown"} ${trace.sourceId}`, trace);
    }
    for (const [key, trace] of last) {
      const before = this.#expected.get(key);
      const whole = trace.append === undefined ? trace : appendedTo(before?.sent, trace);
      const now = whole && computeExpected(whole);
      if (now && (!before || now.messages >= before.messages || trace.replace === true)) this.#expected.set(key, now);
    }
  }

  /** Compares everything stored with what was accepted. @returns the differences, with their cases */
  async compare(
    pool: pg.Pool,
    userIds: string[],
  ): Promise<{ traces: number; faults: { index: number; what: string }[] }> {
    const missing = new Set(this.#expected.keys());
    const faults: { index: number; what: string }[] = [];
    let traces = 0;
    for (const userId of userIds) {
      for await (const { key, sourceId, digest } of storedTraces(pool, userId)) {
        const index = indexIn(this.#seed, sourceId);
        if (index === undefined) continue;
        traces += 1;
        missing.delete(key);
        const expected = this.#expected.get(key);
        if (expected?.digest === digest || this.#unknown.has(index)) continue;
        faults.push({
          index,
          what: expected ? "a stored trace differs from the sent one" : "a trace that was not taken is stored",
        });
      }
    }
    for (const key of missing) {
      const index = indexIn(this.#seed, key) ?? -1;
      if (!this.#unknown.has(index)) faults.push({ index, what: "a trace that was taken is not stored" });
    }
    return { traces, faults };
  }
}

type Row = { id: string; source: string; sourceId: string; title: string | null; model: string | null };
type TraceRow = Row & { project: string | null; createdAt: Date | null; metadata: unknown };

async function* storedTraces(pool: pg.Pool, userId: string) {
  for (let after = "00000000-0000-0000-0000-000000000000"; ; ) {
    const { rows } = await pool.query<TraceRow>(
      `select id, source, source_id as "sourceId", title, model, project, created_at as "createdAt", metadata
       from trace where user_id = $1 and id > $2 order by id limit 500`,
      [userId, after],
    );
    const messages = await storedMessages(pool, userId, rows);
    for (const { id, source, sourceId, title, model, project, createdAt, metadata } of rows) {
      const own = [title, model, project, createdAt?.getTime() ?? null, metadata === null ? null : plain(metadata)];
      yield { key: `${userId} ${source} ${sourceId}`, sourceId, digest: computeDigest([own, messages.get(id) ?? []]) };
    }
    const last = rows.at(-1);
    if (!last) return;
    after = last.id;
  }
}

async function storedMessages(pool: pg.Pool, userId: string, traces: TraceRow[]): Promise<Map<string, unknown[]>> {
  const { rows } = await pool.query(
    `select trace_id as "traceId", position, content, role, token_count as "tokenCount", created_at as "createdAt", metadata
     from message where user_id = $1 and trace_id = any($2) order by trace_id, position`,
    [userId, traces.map(({ id }) => id)],
  );
  const byTrace = new Map<string, unknown[]>();
  for (const { traceId, position, content, role, tokenCount, createdAt, metadata } of rows) {
    const list = byTrace.get(traceId) ?? [];
    byTrace.set(traceId, list);
    list.push([
      position,
      content,
      role,
      tokenCount,
      createdAt?.getTime() ?? null,
      metadata === null ? null : plain(metadata),
    ]);
  }
  return byTrace;
}
