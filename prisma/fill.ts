import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { PoolClient } from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { v7 as uuid } from "uuid";
import { transaction } from "#lib/db/client";
import { Conversations, type MadeTrace } from "./conversations.ts";

/** Messages of one transaction, about: 8 MB. */
const atATime = 10_000;

/**
 * Fills a user's account with made-up conversations, by COPY.
 *
 * @param options.messages how many messages, in conversations of twenty on average.
 * @param options.session how many messages of one more conversation, the newest; 0 for none.
 * @param options.seed another number makes other conversations.
 * @param tell is told after each transaction how many messages there are now.
 * @returns how many conversations were made
 */
export async function fill(
  userId: string,
  { messages, session = 0, seed }: { messages: number; session?: number; seed?: number },
  tell: (written: number) => void = () => {},
): Promise<number> {
  const conversations = new Conversations(seed);
  let traces = 0;
  let written = 0;
  while (written < messages) {
    const batch: MadeTrace[] = [];
    for (let size = 0; size < atATime && written < messages; size += batch.at(-1)?.messages.length ?? 0) {
      const trace = conversations.next();
      trace.messages.length = Math.min(trace.messages.length, messages - written);
      written += trace.messages.length;
      batch.push(trace);
    }
    await write(userId, batch);
    traces += batch.length;
    tell(written);
  }
  if (session === 0) return traces;
  await write(userId, [conversations.next(session)]);
  return traces + 1;
}

async function write(userId: string, traces: MadeTrace[]): Promise<void> {
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

function* traceLines(userId: string, traces: (MadeTrace & { id: string })[]): Generator<string> {
  for (const { id, source, sourceId, model, title, project, machine, messages } of traces) {
    const tokens = messages.reduce((sum, { tokenCount }) => sum + tokenCount, 0);
    const [first, last] = [messages[0], messages.at(-1)].map((message) => message?.createdAt.toISOString() ?? "\\N");
    const hash = `\\\\x${randomBytes(32).toString("hex")}`;
    const fields = [userId, id, source, sourceId, model, title, project, machine, first, last, messages.length, tokens];
    yield `${[...fields, hash, 0].join("\t")}\n`;
  }
}

function* messageLines(userId: string, traces: (MadeTrace & { id: string })[]): Generator<string> {
  for (const { id, messages } of traces) {
    for (const [position, { role, content, tokenCount, createdAt }] of messages.entries()) {
      const text = content.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\t", "\\t");
      yield `${[userId, id, position, role, text, tokenCount, createdAt.toISOString()].join("\t")}\n`;
    }
  }
}
