import "server-only";
import { heavyRead } from "#lib/db/heavy";
import { filterWords } from "#lib/search/grammar";
import { suggestWords } from "#lib/search/index/expand";
import { composed } from "#lib/search/index/terms";
import type { NamesResponse, Suggestion } from "#lib/search/schema";
import { readByTitle } from "#lib/search/sql/names";
import { readNames } from "#lib/search/sql/suggest";

const max = { each: 4, all: 8 };

const values: Record<string, string[]> = {
  role: ["user", "assistant", "thinking", "tool"],
  in: ["title"],
  has: ["error"],
  tool: ["shell", "edit", "write", "read", "search", "web"],
};

/** @param text 1 to 512 characters */
export async function suggest(userId: string, text: string): Promise<Suggestion[]> {
  const whole = composed(text);
  const [last = ""] = /[^\s"“”]*$/.exec(whole) ?? [];
  if (last === "" || /["“”][^"“”]*$/.test(whole.replace(/["“”][^"“”]*["“”]/g, ""))) return [];
  const start = whole.slice(0, whole.length - last.length);
  const [, minus = "", name, value = ""] = /^(-?)(?:([a-z]+):)?(.*)$/i.exec(last) ?? [];
  const filter = filterWords.find((known) => known === name?.toLowerCase());
  if (name !== undefined && !filter) return [];
  const found = filter ? await suggestValues(userId, filter, value) : await anythingLike(userId, value);
  return found.slice(0, max.all).map(({ kind, text: meant }) => ({ kind, text: meant, q: `${start}${minus}${meant}` }));
}

type FoundName = Pick<Suggestion, "kind" | "text">;

async function suggestValues(userId: string, filter: string, beginning: string): Promise<FoundName[]> {
  const fixed = values[filter];
  if (fixed) return fixed.filter((one) => one.startsWith(beginning.toLowerCase())).map((one) => named(filter, one));
  if (beginning === "" || filter === "before" || filter === "after") return [];
  const kind = getKind(filter) as "file" | "project" | "branch" | "agent" | "model";
  const names = await heavyRead(userId, (tx) => readNames(tx, userId, kind, beginning, max.all), { seconds: 1 });
  return names.map((one) => named(filter, one));
}

const getKind = (filter: string) => (filter === "changed" ? "file" : filter);

function named(filter: string, value: string): FoundName {
  const kind = getKind(filter);
  return {
    kind: kind === "file" || kind === "project" ? kind : "filter",
    text: `${filter}:${/\s/.test(value) ? `"${value}"` : value}`,
  };
}

async function anythingLike(userId: string, beginning: string): Promise<FoundName[]> {
  if (beginning.length < 2) return [];
  const filters = filterWords.filter((one) => one.startsWith(beginning.toLowerCase()));
  return heavyRead(
    userId,
    async (tx) => {
      const words = await suggestWords(tx, userId, beginning, max.each);
      const files = await readNames(tx, userId, "file", beginning, max.each);
      const projects = await readNames(tx, userId, "project", beginning, max.each);
      return [
        ...words.map((text): FoundName => ({ kind: "word", text })),
        ...projects.map((one) => named("project", one)),
        ...files.map((one) => named("file", one)),
        ...filters.map((one): FoundName => ({ kind: "filter", text: `${one}:` })),
      ];
    },
    { seconds: 1 },
  );
}

const bounds = { looked: 5000, found: 8 };

export const splitWords = (query: string): string[] => query.split(/\s+/).filter(Boolean).slice(0, 8);

export async function findByTitle(userId: string, words: string[]): Promise<NamesResponse["sessions"]> {
  const rows = await readByTitle(userId, words, bounds);
  return rows.map(({ updatedAt, ...row }) => ({ ...row, updatedAt: updatedAt.toISOString() }));
}
