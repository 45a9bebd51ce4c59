// Decisions survive re-sends: uploads are masked by them before anything is stored; what is stored already is masked by
// background tasks.
import "server-only";
import { kinds } from "#common/secrets/kinds";
import { type AuditOrigin, recordEvent } from "#lib/auth/audit";
import { notFound, SpoorError } from "#lib/core/errors";
import { limits } from "#lib/core/limits";
import { type Db, prisma } from "#lib/db/client";
import { lockFindings } from "#lib/db/sql/run";
import { beginMasking, beginMaskingKinds } from "#lib/findings/sql";
import { everywhere } from "#lib/masking/policy";

type Decision = { kind: string; mark: string; trace?: string | undefined; verdict: "mask" | "keep" };

/** @throws SpoorError `not_found` without such a secret, `invalid_request` after too many decisions */
export async function decide(
  userId: string,
  { kind, mark, trace, verdict }: Decision,
  from: AuditOrigin,
): Promise<void> {
  await prisma().$transaction(async (tx) => {
    await lockFindings(tx, userId);
    const found = await tx.finding.findFirst({ where: { userId, kind, mark, ...(trace && { traceId: trace }) } });
    if (!found) throw notFound();
    const key = trace && (await tx.trace.findUnique({ where: { userId_id: { userId, id: trace } } }));
    if (trace && !key) throw notFound();
    const traceId = trace ?? everywhere;
    const others = await tx.secretRuling.count({ where: { userId, NOT: { kind, mark, traceId } } });
    if (others >= limits.traces.secretRulings)
      throw new SpoorError("invalid_request", `You can decide on at most ${limits.traces.secretRulings} secrets.`);
    const own = key ? { source: key.source, sourceId: key.sourceId } : {};
    await tx.secretRuling.upsert({
      where: { userId_kind_mark_traceId: { userId, kind, mark, traceId } },
      create: { userId, kind, mark, traceId, verdict, ...own },
      update: { verdict },
    });
    await changePolicy(tx, userId, {});
    if (verdict === "mask") await beginMasking(tx, { userId, kind, mark, traceId: trace });
    else
      await tx.finding.updateMany({
        where: { userId, kind, mark, state: "open", ...(trace && { traceId: trace }) },
        data: { state: "kept" },
      });
    await recordEvent(tx, userId, verdict === "mask" ? "secret_masked" : "secret_kept", `${kind} ${mark}`, from);
  });
}

/** Everywhere without `projectId`; forever without `until`. */
type MaskingOf = { projectId?: string | undefined; until?: Date | undefined };

/** Applies to certain secrets in future uploads. */
export async function setMasking(
  userId: string,
  masks: boolean,
  from: AuditOrigin,
  { projectId, until }: MaskingOf = {},
): Promise<void> {
  const change = { masks, masksAgainAt: masks ? null : (until ?? null) };
  await prisma().$transaction(async (tx) => {
    if (projectId) {
      const { count } = await tx.project.updateMany({
        where: { userId, id: projectId, mergedInto: null },
        data: change,
      });
      if (count === 0) throw notFound();
    }
    await changePolicy(tx, userId, projectId ? {} : change);
    const words = [masks ? "on" : "off", projectId && `project ${projectId}`, until && `until ${until.toISOString()}`];
    await recordEvent(tx, userId, "masking_set", words.filter(Boolean).join(", "), from);
  });
}

/**
 * Masks certain secrets that are stored unmasked, and ends all stops.
 * @returns the number of sessions
 */
export async function maskAllCertain(userId: string, from: AuditOrigin): Promise<number> {
  const certain = kinds.filter((kind) => kind.certain).map(({ id }) => id);
  return prisma().$transaction(async (tx) => {
    await lockFindings(tx, userId);
    await changePolicy(tx, userId, { masks: true, masksAgainAt: null });
    await tx.project.updateMany({ where: { userId, masks: false }, data: { masks: true, masksAgainAt: null } });
    const traces = await beginMaskingKinds(tx, userId, certain);
    await recordEvent(tx, userId, "secret_masked", "all that are certain", from);
    return traces;
  });
}

const changePolicy = (tx: Db, userId: string, change: { masks?: boolean; masksAgainAt?: Date | null }) =>
  tx.secretPolicy.upsert({
    where: { userId },
    create: { userId, version: 1, ...change },
    update: { version: { increment: 1 }, ...change },
  });
