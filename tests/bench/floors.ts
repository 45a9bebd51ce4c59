import { fork } from "node:child_process";
import { once } from "node:events";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { v7 as uuid } from "uuid";
import { copyHeader, copyTrailer } from "#lib/core/copy-format";
import { MessageRows, messageColumns } from "#lib/ingest/decode/message-rows";
import type { BenchTrace } from "./corpus.ts";

/** Starts floor A in a child process (floor-a.ts). @returns its URL and a function that stops it */
export async function startFloorA(databaseUrl: string): Promise<{ url: string; stop: () => void }> {
  const child = fork("tests/bench/floor-a.ts", [], { env: { ...process.env, DATABASE_URL: databaseUrl } });
  const [port] = await once(child, "message");
  return { url: `http://127.0.0.1:${port}`, stop: () => child.kill() };
}

/** Floor B: the same rows by one COPY per table, into tables with the same columns and keys, prepared in advance. */
export async function makeFloorB(databaseUrl: string) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(`
    drop table if exists floor_message, floor_trace;
    create table floor_trace (like trace including all);
    alter table floor_trace add foreign key (user_id) references "user" (id);
    create table floor_message (like message including all);
    alter table floor_message add foreign key (user_id, trace_id) references floor_trace (user_id, id);`);

  /** @returns the milliseconds from BEGIN to commit */
  async function copy(userId: string, traces: BenchTrace[]): Promise<number> {
    const ids = traces.map(() => uuid());
    const bytes = (id: string) => Buffer.from(id.replaceAll("-", ""), "hex");
    const chunks: Buffer[] = [copyHeader];
    traces.forEach(({ messages }, index) => {
      const written = new MessageRows();
      for (const message of messages) {
        written.add({ ...message, createdAt: Date.parse(message.createdAt), metadata: null });
      }
      written.fillIn(bytes(userId), bytes(ids[index] ?? ""));
      chunks.push(written.bytes.subarray(0, written.end));
    });
    chunks.push(copyTrailer);
    // Few and large chunks, as a simple program would send.
    const stream = Buffer.concat(chunks);
    const rows = traces.map(({ source, sourceId, model, createdAt, messages }, index) =>
      [
        userId,
        ids[index],
        source,
        sourceId,
        model,
        createdAt,
        messages.length,
        0,
        "\\\\x00",
        "\\\\x00",
        1,
        createdAt,
      ].join("\t"),
    );
    const startedAt = performance.now();
    await client.query("begin");
    await pipeline(
      Readable.from([`${rows.join("\n")}\n`]),
      client.query(
        copyFrom(`copy floor_trace (user_id, id, source, source_id, model, created_at, message_count, token_count,
          content_hash, messages_hash, upload_sequence, activity_at) from stdin`),
      ),
    );
    const target = client.query(copyFrom(`copy floor_message (${messageColumns}) from stdin (format binary)`));
    await pipeline(Readable.from(inChunks(stream, 1 << 20)), target);
    await client.query("commit");
    return performance.now() - startedAt;
  }

  return {
    copy,
    end: () => client.end(),
  };
}

function* inChunks(bytes: Buffer, chunkBytes: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}
