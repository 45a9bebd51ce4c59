import { randomBytes } from "node:crypto";
import { v7 as uuid } from "uuid";
import { expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { getJob } from "#lib/ingest/jobs";
import { type StoredBatch, withStoredBatch } from "#lib/ingest/process/stored-batch";
import { provideOwner } from "../support/server.ts";
import { getUploads, messages } from "./uploads.ts";

const { userId } = await provideOwner();
const { accept } = getUploads(userId);

/** Runs `work` with a stored upload, as a job does. */
async function withBatch<T>(jobId: string, work: (batch: StoredBatch) => Promise<T>): Promise<T> {
  const { bytes } = await getJob(userId, jobId);
  return withStoredBatch({ userId, jobId, bytes, isRepeat: false }, work);
}

async function copied(batch: StoredBatch): Promise<Buffer> {
  const plan = { userId, traces: [{ index: 0, traceId: uuid(), skipBytes: 0 }] };
  const parts: Buffer[] = [];
  for await (const part of batch.rows(plan)) parts.push(part);
  return Buffer.concat(parts);
}

test("a body that is read ahead and not awaited never reaches the thread's next batch", async () => {
  const text = randomBytes(6 << 20).toString("base64");
  const large = await accept([{ sourceId: "large", messages: messages(text) }]);
  const next = await accept([{ sourceId: "next", messages: messages("next ".repeat(20_000)) }]);
  await withBatch(large, async () => {}); // nothing changed, so its messages are not read
  const rows = await withBatch(next, async (batch) => {
    await batch.open();
    await expect.poll(() => pool().totalCount - pool().idleCount).toBe(0); // the large body was read
    return copied(batch);
  });
  expect(rows.includes("next next")).toBe(true);
});
