import type { LedgerMessage, LedgerTrace } from "#lib/ledger/part";

export type Relation = "subagent" | "fork" | "continuation";

export type Named = { sourceId: string; relation: Relation };

const maxCharacters = 512;

const idIn = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" && value.length <= maxCharacters ? value : undefined;

export const sessionIn = (metadata: Record<string, unknown> | null, key: string): string | undefined =>
  idIn(metadata?.[key]);

export function startedSession({ metadata }: LedgerMessage): string | undefined {
  const result = metadata?.result;
  return typeof result === "object" && result !== null ? idIn((result as Record<string, unknown>).session) : undefined;
}

const claudes = new Set(["claude-code", "cowork"]);
const below = /^(.+)\/(?:agent-[^/]+|sidechain)$/s;

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

/** In older versions only the messages name the sub-agent's session. */
export const isAgentsFile = ({ source, sourceId }: LedgerTrace): boolean =>
  claudes.has(source) && /^agent-[^/]+$/.test(sourceId);

export const readLineSession = ({ metadata }: LedgerMessage): string | undefined => sessionIn(metadata, "sessionId");

export type Relative = {
  id: string;
  source: string;
  sourceId: string;
  named: Named | undefined;
};

/** A session with more ancestors becomes a root. */
export const maxDepth = 64;

/**
 * A trace in a cycle, or with too many ancestors, becomes a root.
 * @param findParent undefined for a root
 */
export function listAncestors<R extends Relative>(trace: R, findParent: (one: R) => R | undefined): R[] {
  const ancestors: R[] = [];
  const places = new Map<string, number>();
  for (let at = findParent(trace); at; at = findParent(at)) {
    if (at.id === trace.id || ancestors.length === maxDepth) return [];
    const place = places.get(at.id);
    if (place !== undefined) return ancestors.slice(0, place + 1); // a circle above it, whose members are roots
    places.set(at.id, ancestors.length);
    ancestors.push(at);
  }
  return ancestors;
}

export const getTraceKey = ({ source, sourceId }: { source: string; sourceId: string }) =>
  JSON.stringify([source, sourceId]);

/** A sub-agent's parent is the one that it names; other traces prefer the session that says it continues in them. */
export function chooseParent<R extends Relative>(
  one: R,
  byKey: ReadonlyMap<string, R>,
  continued: ReadonlyMap<string, R>,
): { parent: R; relation: Relation } | undefined {
  const { source, named } = one;
  const before = named?.relation === "subagent" ? undefined : continued.get(getTraceKey(one));
  if (before && before.id !== one.id) return { parent: before, relation: "continuation" };
  const parent = named && byKey.get(getTraceKey({ source, sourceId: named.sourceId }));
  return parent && named && { parent, relation: named.relation };
}

export const later = <One extends Date | null>(one: One, other: Date | undefined): One | Date =>
  other && (!one || other > one) ? other : one;
