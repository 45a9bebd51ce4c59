// Uploads of the same bytes share one stored body: docs/decisions/0029.
import "server-only";
import { Turns } from "#lib/concurrency/turns";
import { prisma } from "#lib/db/client";
import type { Repeated } from "#lib/ingest/accept/sql";
import type { Received } from "#lib/ingest/decode/operations";

const turns = new Turns();

type Body = { userId: string; sha256: Received["sha256"] };

/** Waits for the uploads of the same bytes that are being stored, to share a body with one of them. @returns what ends the turn */
export const turnOfBytes = ({ userId, sha256 }: Body): Promise<() => void> =>
  turns.take(`${userId} ${Buffer.from(sha256).toString("base64")}`);

/** The newest upload of the same bytes that is still kept with a manifest: one in which something was masked has other bytes. */
export async function findSameUpload({ userId, sha256 }: Body): Promise<Repeated | undefined> {
  const job = await prisma().ingestJob.findFirst({
    where: { userId, bodySha256: sha256, upload: { removedAt: null, masked: false, manifest: { not: null } } },
    orderBy: { id: "desc" },
    select: { id: true, tracesReceived: true, messagesReceived: true, upload: { select: { heldBy: true } } },
  });
  if (!job) return undefined;
  const { id: earlier, tracesReceived: traces, messagesReceived: messages } = job;
  return { earlier, holder: job.upload?.heldBy ?? earlier, traces, messages };
}
