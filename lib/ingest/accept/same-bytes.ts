// Uploads of the same bytes share one stored body: docs/decisions/0004.
import "server-only";
import { Turns } from "#lib/core/concurrency/fair-queue";
import { prisma } from "#lib/db/client";
import type { Repeated } from "#lib/ingest/accept/sql";
import { unpackManifest } from "#lib/ingest/decode/manifest";
import type { Received } from "#lib/ingest/decode/operations";
import type { MaskingPolicy } from "#lib/masking/masker";

const turns = new Turns();

type Body = { userId: string; sha256: Received["sha256"] };

/** @returns a function that ends the turn */
export const turnOfBytes = ({ userId, sha256 }: Body): Promise<() => void> =>
  turns.take(`${userId} ${Buffer.from(sha256).toString("base64")}`);

/** A masked upload counts only under the same policy. */
export async function findSameUpload({ userId, sha256 }: Body, policy?: MaskingPolicy): Promise<Repeated | undefined> {
  const job = await prisma().ingestJob.findFirst({
    where: { userId, bodySha256: sha256, upload: { removedAt: null, manifest: { not: null } } },
    orderBy: { id: "desc" },
    select: {
      id: true,
      tracesReceived: true,
      messagesReceived: true,
      upload: { select: { heldBy: true, masked: true } },
    },
  });
  if (!job?.upload) return undefined;
  const { id: earlier, tracesReceived: traces, messagesReceived: messages, upload } = job;
  if (upload.masked && (!policy || (await readStamp(userId, earlier)) !== policy.stamp)) return undefined;
  return { earlier, holder: upload.heldBy ?? earlier, traces, messages };
}

async function readStamp(userId: string, jobId: string): Promise<string | undefined> {
  const upload = await prisma().upload.findUnique({
    where: { userId_jobId: { userId, jobId } },
    select: { manifest: true },
  });
  return upload?.manifest ? unpackManifest(upload.manifest)?.stamp : undefined;
}
