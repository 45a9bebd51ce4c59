import "server-only";
import { z } from "zod";
import { notFound, SpoorError } from "#lib/core/errors";
import { pool, prisma } from "#lib/db/client";
import { labelText, type ProjectLabel, readProjectLabels } from "#lib/db/sql/project-labels";
import { undated } from "#lib/prices/model";
import type { ProjectDetails, ProjectMonth, ProjectSummary, ProjectsQuery, Share } from "#lib/projects/schema";
import { type Labels, type ProjectRow, readProjectParts, readProjectRows } from "#lib/projects/sql/project-rows";
import { getAliasKey } from "#lib/transcript/project";

export type { ProjectDetails, ProjectLabel, ProjectMonth, ProjectSummary, Share };
export { labelText };

const maxShares = 50;

function toSummary(row: ProjectRow, labels: Labels): ProjectSummary {
  return {
    id: row.id,
    name: row.name,
    distinction: labels.get(row.id)?.distinction ?? null,
    sessions: row.sessions,
    sessionsPutAway: row.put_away,
    costNano: row.cost_nano,
    usage: {
      inputTokens: row.input_tokens,
      outputTokens: row.output_tokens,
      cacheReadTokens: row.cache_read_tokens,
      cacheWrite5mTokens: row.cache_write_5m_tokens,
      cacheWrite1hTokens: row.cache_write_1h_tokens,
      reasoningTokens: row.reasoning_tokens,
      unpricedTokens: row.unpriced_tokens,
      tierNotPricedTokens: row.tier_not_priced_tokens,
    },
    agents: row.agents,
    lastActiveAt: row.last_active?.toISOString() ?? null,
  };
}

const cursorShape = z.int().min(1).max(1_000_000);

function parseOffset(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const parsed = cursorShape.safeParse(Number(Buffer.from(cursor, "base64url").toString("latin1")));
  if (parsed.success) return parsed.data;
  const errors = [{ path: "cursor", message: "is not a cursor of this list" }];
  throw new SpoorError("invalid_request", "The request is not valid; see errors.", { errors });
}

export async function listProjects(
  userId: string,
  { q, sort, limit, cursor }: ProjectsQuery,
): Promise<{ projects: ProjectSummary[]; nextCursor: string | null }> {
  const offset = parseOffset(cursor);
  const { rows, labels } = await readProjectRows(userId, { q, sort, limit: limit + 1, offset });
  const shown = rows.slice(0, limit);
  const next = rows.length > limit ? Buffer.from(String(offset + limit)).toString("base64url") : null;
  return { projects: shown.map((row) => toSummary(row, labels)), nextCursor: next };
}

/** @throws SpoorError `not_found`, also for another user's project */
export async function getProject(userId: string, id: string): Promise<ProjectDetails> {
  const parts = await readProjectParts(userId, id, maxShares);
  if (!parts) throw notFound();
  const { row, labels, aliases, shares, models, branches, months } = parts;
  const by = (facet: string): Share[] =>
    shares.filter((one) => one.facet === facet).map(({ facet: _, ...share }) => share);
  return {
    ...toSummary(row, labels),
    createdAt: row.created_at.toISOString(),
    aliases: aliases.map(({ kind, machine, value }) => ({ kind, machine: machine || null, value })),
    byAgent: by("source"),
    byModel: mergeTwins(models).slice(0, maxShares),
    byMachine: by("machine"),
    byBranch: branches,
    byMonth: months,
  };
}

function mergeTwins(models: Share[]): Share[] {
  const merged = new Map<string, Share>();
  for (const { value, sessions, costNano } of models) {
    const model = undated(value);
    const known = merged.get(model) ?? { value: model, sessions: 0, costNano: 0 };
    merged.set(model, { value: model, sessions: known.sessions + sessions, costNano: known.costNano + costNano });
  }
  return [...merged.values()].sort((one, other) => other.sessions - one.sessions || other.costNano - one.costNano);
}

export const readLabels = (userId: string, ids: (string | null)[]): Promise<Map<string, ProjectLabel>> =>
  readProjectLabels(pool(), userId, [...new Set(ids.filter((id) => id !== null))]);

export const maxOthers = 500;

/** Prisma's `contains` is a LIKE, so its wildcards are escaped. */
const containsText = (text: string) => ({ contains: text.replace(/[\\%_]/g, "\\$&"), mode: "insensitive" as const });

/** The target of a merge, while sessions are still being moved. */
export async function mergedInto(userId: string, id: string): Promise<string | undefined> {
  const project = await prisma().project.findUnique({
    where: { userId_id: { userId, id } },
    select: { mergedInto: true },
  });
  return project?.mergedInto ?? undefined;
}

export async function listOthers(userId: string, id: string, find = ""): Promise<{ id: string; text: string }[]> {
  const found = await prisma().project.findMany({
    where: { userId, mergedInto: null, id: { not: id }, ...(find && { name: containsText(find) }) },
    select: { id: true, name: true },
    orderBy: [{ name: "asc" }, { id: "asc" }],
    take: maxOthers,
  });
  const labels = await readLabels(
    userId,
    found.map((one) => one.id),
  );
  return found.map((one) => ({ id: one.id, text: labelText(labels.get(one.id) ?? { ...one, distinction: null }) }));
}

export const canUndo = async (userId: string, id: string, mergedFrom: string): Promise<boolean> =>
  (await prisma().projectAlias.count({ where: { userId, projectId: id, movedFrom: mergedFrom } })) > 0;

/** Undefined if the aliases did not all go to the same project. */
export async function findSplit(userId: string, id: string, keys: string[]): Promise<string | undefined> {
  const moved = await prisma().projectAlias.findMany({
    where: { userId, movedFrom: id, NOT: { projectId: id } },
    select: { kind: true, machine: true, value: true, projectId: true },
  });
  const wanted = new Set(keys);
  const found = moved.filter((alias) => wanted.has(getAliasKey(alias)));
  const projects = new Set(found.map(({ projectId }) => projectId));
  return found.length === wanted.size && projects.size === 1 ? found[0]?.projectId : undefined;
}

const maxFound = 5;

export async function findProjects(userId: string, words: string[]): Promise<{ id: string; name: string }[]> {
  if (words.length === 0) return [];
  return prisma().project.findMany({
    where: { userId, mergedInto: null, AND: words.map((word) => ({ name: containsText(word) })) },
    select: { id: true, name: true },
    orderBy: [{ name: "asc" }, { id: "asc" }],
    take: maxFound,
  });
}
