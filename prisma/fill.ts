import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { PoolClient } from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { v7 as uuid } from "uuid";
import { transaction } from "#lib/db/client";
import { type GeneratedTrace, TraceGenerator } from "./trace-generator.ts";

/** About how many messages a transaction writes: 8 MB. */
const messagesPerTransaction = 10_000;

/**
 * Fills a user's account with generated traces, by COPY.
 *
 * @param options.messages how many messages, in traces of twenty on average.
 * @param options.session how many messages one more trace has, the newest; 0 for none.
 * @param options.seed another seed generates other traces.
 * @param onProgress called after each transaction with the number of messages written so far.
 * @returns how many traces were created
 */
export async function fill(
  userId: string,
  { messages, session = 0, seed }: { messages: number; session?: number; seed?: number },
  onProgress: (written: number) => void = () => {},
): Promise<number> {
  const generator = new TraceGenerator(seed);
  let traces = 0;
  let written = 0;
  while (written < messages) {
    const batch: GeneratedTrace[] = [];
    for (
      let size = 0;
      size < messagesPerTransaction && written < messages;
      size += batch.at(-1)?.messages.length ?? 0
    ) {
      const trace = generator.next();
      trace.messages.length = Math.min(trace.messages.length, messages - written);
      written += trace.messages.length;
      batch.push(trace);
    }
    await write(userId, batch);
    traces += batch.length;
    onProgress(written);
  }
  if (session === 0) return traces;
  await write(userId, [generator.next(session)]);
  return traces + 1;
}

async function write(userId: string, traces: GeneratedTrace[]): Promise<void> {
  const withIds = traces.map((trace) => ({ ...trace, id: uuid() }));
  await transaction(async (tx) => {
    await copy(tx, traceColumns, traceLines(userId, withIds));
    await copy(tx, messageColumns, messageLines(userId, withIds));
  });
}

const traceColumns = `trace (user_id, id, source, source_id, model, title, project, machine, created_at, activity_at,
  message_count, token_count, content_hash, upload_sequence)`;
const messageColumns = "message (user_id, trace_id, position, role, content, token_count, created_at)";

async function copy(tx: PoolClient, columns: string, lines: Iterable<string>): Promise<void> {
  await pipeline(Readable.from(lines), tx.query(copyFrom(`copy ${columns} from stdin`)));
}

function* traceLines(userId: string, traces: (GeneratedTrace & { id: string })[]): Generator<string> {
  for (const { id, source, sourceId, model, title, project, machine, messages } of traces) {
    const tokens = messages.reduce((sum, { tokenCount }) => sum + tokenCount, 0);
    const [first, last] = [messages[0], messages.at(-1)].map((message) => message?.createdAt.toISOString() ?? "\\N");
    const hash = `\\\\x${randomBytes(32).toString("hex")}`;
    const fields = [userId, id, source, sourceId, model, title, project, machine, first, last, messages.length, tokens];
    yield `${[...fields, hash, 0].join("\t")}\n`;
  }
}

function* messageLines(userId: string, traces: (GeneratedTrace & { id: string })[]): Generator<string> {
  for (const { id, messages } of traces) {
    for (const [position, { role, content, tokenCount, createdAt }] of messages.entries()) {
      const text = content.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\t", "\\t");
      yield `${[userId, id, position, role, text, tokenCount, createdAt.toISOString()].join("\t")}\n`;
    }
  }
}
