import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Message } from "../../cli/adapters/adapter.ts";

/** A database in write-ahead mode, as most agents keep theirs. The caller closes it, or keeps it open like a running agent. */
export function makeDatabase(path: string, schema: string): DatabaseSync {
  mkdirSync(dirname(path), { recursive: true });
  const database = new DatabaseSync(path);
  // Nobody cuts the power here: a sync for each database would take longer than the test.
  database.exec(`PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL; ${schema}`);
  return database;
}

/** How many messages of each kind there are, as a reader sees them. */
export function tally(messages: Message[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { role, metadata } of messages) {
    const kind = metadata?.tool ? "call" : metadata?.result ? "result" : (metadata?.kind ?? role);
    counts[String(kind)] = (counts[String(kind)] ?? 0) + 1;
  }
  return counts;
}

/** The sum of the tokens that messages name. */
export function countTokens(messages: Message[], field: string): number {
  const usages = messages.map(({ metadata }) => (metadata?.usage ?? {}) as Record<string, number>);
  return usages.reduce((sum, usage) => sum + (usage[field] ?? 0), 0);
}
