// Masks what is stored already, by what its user decided since: rows, uploads and the index. What is left to do stands in
// `masking_task` until nothing of it is left, so that an interrupted run continues.
import "server-only";
import type { PoolClient } from "pg";
import { prisma, transaction } from "#lib/db/client";
import {
  lockTrace,
  readMessagesAfter,
  type StoredMessage,
  type StoredTrace,
  writeMessage,
  writeTrace,
} from "#lib/ingest/masking/sql";
import { cleanUploads } from "#lib/ingest/masking/uploads";
import { deleteRemoved } from "#lib/ingest/raw/sql";
import { log } from "#lib/log";
import { Masker, type Policy } from "#lib/masking/masker";
import { readPolicy } from "#lib/masking/policy";
import { forgetTerms } from "#lib/search/forget";

/** How many traces of a user are masked before their uploads and the index are looked through, once for all of them. */
const tracesAtOnce = 100;

/**
 * Masks the traces that are to be masked, user by user.
 *
 * @param seconds after which no more are begun.
 * @returns how many are done.
 */
export async function maskStored(seconds: number): Promise<number> {
  const deadline = performance.now() + seconds * 1000;
  let done = 0;
  const users = await prisma().maskingTask.groupBy({ by: ["userId"] });
  for (const { userId } of users) {
    if (performance.now() >= deadline) break;
    done += await maskSome(userId, deadline);
  }
  return done;
}

async function maskSome(userId: string, deadline: number): Promise<number> {
  const tasks = await prisma().maskingTask.findMany({
    where: { userId },
    orderBy: { createdAt: "asc" },
    take: tracesAtOnce,
  });
  const policy = await readPolicy(userId);
  const masked: { id: string; key: string; createdAt: Date }[] = [];
  for (const { traceId, createdAt } of tasks) {
    if (masked.length > 0 && performance.now() >= deadline) break;
    const trace = await maskTrace(userId, traceId, policy);
    masked.push({ id: traceId, createdAt, key: trace ? JSON.stringify([trace.source, trace.sourceId]) : "" });
  }
  await cleanUploads(userId, policy, new Set(masked.map(({ key }) => key)));
  await deleteRemoved(userId).catch((error) => log.info({ err: error }, "housekeeping deletes the masked uploads"));
  const ids = masked.map(({ id }) => id);
  if (!(await forgetTerms(userId, ids))) return 0;
  for (const { id, createdAt } of masked)
    await prisma().maskingTask.deleteMany({ where: { userId, traceId: id, createdAt: { lte: createdAt } } });
  return masked.length;
}

/** Masks a trace's rows. @returns the trace as it was; undefined where it is deleted */
function maskTrace(userId: string, traceId: string, policy: Policy): Promise<StoredTrace | undefined> {
  return transaction(
    async (tx) => {
      const trace = await lockTrace(tx, userId, traceId);
      if (!trace) return undefined;
      const masker = new Masker(policy, trace);
      const messages = await maskMessages(tx, userId, traceId, masker);
      const { source, sourceId, machine, ...texts } = trace;
      const own = masker.value(texts);
      if (masker.hasEchoes) {
        const more = await maskMessages(tx, userId, traceId, masker);
        messages.changed += more.changed;
        messages.moreBytes += more.moreBytes;
      }
      const masked = masker.withoutEchoes(own);
      const fields = JSON.stringify(masked) !== JSON.stringify(texts);
      if (messages.changed > 0 || fields) {
        const changes = { messages: messages.changed > 0, fields, moreBytes: messages.moreBytes };
        await writeTrace(tx, userId, traceId, { source, sourceId, machine, ...masked }, changes);
      }
      return trace;
    },
    { idle_in_transaction_session_timeout: "60s" },
  );
}

async function maskMessages(tx: PoolClient, userId: string, traceId: string, masker: Masker) {
  const sums = { changed: 0, moreBytes: 0 };
  let after = -1;
  for (;;) {
    const messages = await readMessagesAfter(tx, userId, traceId, after);
    for (const message of messages) {
      const masked = maskMessage(message, masker);
      if (!masked) continue;
      await writeMessage(tx, userId, traceId, masked);
      sums.changed += 1;
      sums.moreBytes += sizeOf(masked) - sizeOf(message);
    }
    const last = messages.at(-1);
    if (!last) return sums;
    after = last.position;
  }
}

const sizeOf = ({ content, metadata }: StoredMessage): number =>
  Buffer.byteLength(content) + Buffer.byteLength(JSON.stringify(metadata) ?? "");

/** @returns undefined where nothing of it is masked */
function maskMessage({ position, content, metadata }: StoredMessage, masker: Masker): StoredMessage | undefined {
  const masked = masker.withoutEchoes({
    position,
    content: masker.text(content),
    metadata: masker.value(metadata),
  });
  const isSame = masked.content === content && JSON.stringify(masked.metadata) === JSON.stringify(metadata);
  return isSame ? undefined : masked;
}
