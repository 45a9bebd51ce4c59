// Which session started, was forked into, or goes on in another one: what the traces themselves say of it.
import type { LedgerMessage, LedgerTrace } from "#lib/ledger/part";

/** How a session came from another one. */
export type Relation = "subagent" | "fork" | "continuation";

/** The session that a trace names as the one that it came from. */
export type Named = { sourceId: string; relation: Relation };

/** A longer one is no source id. */
const maxCharacters = 512;

const idIn = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" && value.length <= maxCharacters ? value : undefined;

/** A key of docs/trace-format.md that names a session, if it does. */
export const sessionIn = (metadata: Record<string, unknown> | null, key: string): string | undefined =>
  idIn(metadata?.[key]);

/** The session whose work a message is the result of. */
export function startedSession({ metadata }: LedgerMessage): string | undefined {
  const result = metadata?.result;
  return typeof result === "object" && result !== null ? idIn((result as Record<string, unknown>).session) : undefined;
}

/** Claude Code and the program that runs it; their sub-agents' ids tell the session, or are files' names that don't. */
const claudes = new Set(["claude-code", "cowork"]);
const below = /^(.+)\/(?:agent-[^/]+|sidechain)$/s;

/** What the metadata of a trace says, or where that is silent, its id. */
export function namedParent({ source, sourceId, metadata }: LedgerTrace): Named | undefined {
  const parent = sessionIn(metadata, "parent");
  if (parent) return { sourceId: parent, relation: "subagent" };
  const continued = sessionIn(metadata, "continues");
  if (continued) return { sourceId: continued, relation: "continuation" };
  const original = sessionIn(metadata, "forkedFrom");
  if (original) return { sourceId: original, relation: "fork" };
  const session = claudes.has(source) ? below.exec(sourceId)?.[1] : undefined;
  return session ? { sourceId: session, relation: "subagent" } : undefined;
}

/** Whether only the messages can tell whose sub-agent it is: it has the name of an older version's file. */
export const isAgentsFile = ({ source, sourceId }: LedgerTrace): boolean =>
  claudes.has(source) && /^agent-[^/]+$/.test(sourceId);

/** The session that a line of such a file names. */
export const sessionOfLine = ({ metadata }: LedgerMessage): string | undefined => sessionIn(metadata, "sessionId");

/** A stored trace among its relatives. */
export type Relative = {
  id: string;
  source: string;
  sourceId: string;
  named: Named | undefined;
};

/** Beyond so many ancestors a session stands alone. */
export const maxDepth = 64;

/**
 * The ancestors of a trace, its parent first; none where it is its own ancestor, which makes it and all of that circle roots, or
 * where there are too many.
 *
 * @param parentOf undefined for a root; for one that was not looked up, the walk is too long.
 */
export function listAncestors<R extends Relative>(trace: R, parentOf: (one: R) => R | undefined): R[] {
  const ancestors: R[] = [];
  const places = new Map<string, number>();
  for (let at = parentOf(trace); at; at = parentOf(at)) {
    if (at.id === trace.id || ancestors.length === maxDepth) return [];
    const place = places.get(at.id);
    if (place !== undefined) return ancestors.slice(0, place + 1); // a circle above it, whose members are roots
    places.set(at.id, ancestors.length);
    ancestors.push(at);
  }
  return ancestors;
}
