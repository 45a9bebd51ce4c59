import "server-only";
import { prisma } from "#lib/db/client";

export const isId = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);

/** The names of those of some values of the facet `project` that are ids of a user's projects. */
export async function readProjectNames(userId: string, values: (string | null)[]): Promise<Map<string, string>> {
  const ids = [...new Set(values.filter((value) => value !== null && isId(value)))] as string[];
  if (ids.length === 0) return new Map();
  const rows = await prisma().project.findMany({
    where: { userId, id: { in: ids } },
    select: { id: true, name: true },
  });
  return new Map(rows.map(({ id, name }) => [id, name]));
}
