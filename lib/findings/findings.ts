import "server-only";
import { z } from "zod";
import { kinds } from "#common/secrets/kinds";
import { SpoorError } from "#lib/core/errors";
import { exactText, utcInstant } from "#lib/core/fields";
import { prisma } from "#lib/db/client";
import { heavyRead } from "#lib/db/heavy";
import type { FindingsQuery, FoundSecret } from "#lib/findings/schema";
import { countFindings, countOpen, readFindings, type StoredFinding } from "#lib/findings/sql";
import { isMasking, unmaskedProjects } from "#lib/masking/policy";

const kindsById = new Map(kinds.map((kind) => [kind.id, kind]));

/** Kinds from another version or another client have only an id. */
const aboutKind = (id: string) => {
  const { name = id, certain = true, rotate = "at the issuing service" } = kindsById.get(id) ?? {};
  return { name, certain, rotate };
};

/**
 * Newest first; an item per secret and session.
 * @throws SpoorError `invalid_request` for an unknown cursor, and as `heavyRead`
 */
export async function listFindings(
  userId: string,
  query: FindingsQuery,
): Promise<{ findings: FoundSecret[]; nextCursor: string | null }> {
  const after = query.cursor === undefined ? undefined : readCursor(query.cursor);
  const page = { after, limit: query.limit + 1 };
  const rows = await heavyRead(userId, (tx) => readFindings(tx, userId, query, page));
  const findings = rows.slice(0, query.limit);
  const last = findings.at(-1);
  return {
    findings: findings.map((row) => ({ ...row, at: row.at.toISOString(), ...aboutKind(row.kind) })),
    nextCursor: rows.length > query.limit && last ? cursorAt(last) : null,
  };
}

const cursorShape = z.tuple([utcInstant, exactText(1, 200)]);

const cursorAt = ({ at, kind, mark, traceId, state }: StoredFinding): string =>
  Buffer.from(JSON.stringify([at.toISOString(), `${kind} ${mark} ${traceId} ${state}`])).toString("base64url");

function readCursor(cursor: string): { at: string; id: string } {
  try {
    const [at, id] = cursorShape.parse(JSON.parse(Buffer.from(cursor, "base64url").toString()));
    return { at, id };
  } catch {
    throw new SpoorError("invalid_request", "Unknown cursor.");
  }
}

export async function summarizeFindings(userId: string) {
  const counts = await countFindings(userId);
  const live = { userId, deletedAt: null };
  const now = new Date();
  const [masking, unread, unmasked, policy, stopped] = await Promise.all([
    prisma().maskingTask.count({ where: { userId } }),
    prisma().trace.count({ where: { ...live, ledgerDue: true } }),
    countUnmasked(userId),
    prisma().secretPolicy.findUnique({ where: { userId } }),
    prisma().project.findMany({
      where: unmaskedProjects(userId, now),
      select: { id: true, name: true, masksAgainAt: true },
      orderBy: { name: "asc" },
      take: maxStopped,
    }),
  ]);
  const named = counts.map((count) => ({ ...count, ...aboutKind(count.kind) }));
  return {
    counts: named,
    masking,
    unread,
    unmasked,
    masks: !policy || isMasking(policy, now),
    until: policy?.masksAgainAt ?? undefined,
    stopped,
  };
}

/** Bounds the listed projects whose masking is stopped. */
const maxStopped = 50;

/** Larger numbers are reported as this. */
const maxCounted = 1000;

export const countUnmasked = (userId: string): Promise<{ certain: number; possible: number }> =>
  countOpen(
    userId,
    kinds.filter(({ certain }) => certain).map(({ id }) => id),
    maxCounted,
  );

export async function countInTrace(userId: string, traceId: string): Promise<{ masked: number; open: number }> {
  const secrets = await prisma().finding.groupBy({
    by: ["kind", "mark", "state"],
    where: { userId, traceId, state: { in: ["open", "masking", "masked"] } },
    orderBy: [{ kind: "asc" }, { mark: "asc" }],
    take: maxCounted,
  });
  const masked = secrets.filter(({ state }) => state === "masked").length;
  return { masked, open: secrets.length - masked };
}
