import "server-only";
import type { NamesResponse } from "#lib/search/schema";
import { readByTitle } from "#lib/search/sql/names";

const bounds = { looked: 5000, found: 8 };

export const splitWords = (query: string): string[] => query.split(/\s+/).filter(Boolean).slice(0, 8);

export async function findByTitle(userId: string, words: string[]): Promise<NamesResponse["sessions"]> {
  const rows = await readByTitle(userId, words, bounds);
  return rows.map(({ updatedAt, ...row }) => ({ ...row, updatedAt: updatedAt.toISOString() }));
}
