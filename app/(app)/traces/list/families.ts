import {
  type Family,
  type Member,
  type Origin,
  type Relation,
  readFamilies,
  readTraceOrigins,
} from "#lib/traces/family";
import { longTime } from "../../../components/values/date-format";
import { formatCompact, formatQuantity } from "../../../components/values/figures";
import { shortTime } from "../../../components/values/time";
import { listHref } from "../hrefs";
import { type Below, type BelowRow, originWords } from "./below";

const shownEach = 10;

export type ListedFamilies = { families: Map<string, Family>; origins: Map<string, Origin> };

/**
 * @param page.folds the rows have folds with the sessions below them
 * @param page.isOfRoots no session of the page is below another
 */
export async function readKin(
  userId: string,
  traces: { id: string }[],
  page: { folds: boolean; isOfRoots: boolean },
): Promise<ListedFamilies> {
  const ids = traces.map(({ id }) => id);
  const [families, origins] = await Promise.all([
    page.folds ? readFamilies(userId, ids, shownEach) : new Map<string, Family>(),
    page.isOfRoots ? new Map<string, Origin>() : readTraceOrigins(userId, ids),
  ]);
  return { families, origins };
}

const words: Record<Relation, [one: string, many: string]> = {
  subagent: ["sub-agent", "sub-agents"],
  fork: ["fork", "forks"],
  continuation: ["continuation", "continuations"],
};

/** "3 sub-agents, 1 fork" */
export function formatFamilyCounts({ counts }: Pick<Family, "counts">): string {
  const kinds = (Object.keys(words) as Relation[]).filter((kind) => counts[kind] > 0);
  return kinds.map((kind) => formatQuantity(counts[kind], ...words[kind])).join(", ");
}

export function toBelow(id: string, family: Family, zone: string): Below {
  const { counts, below, isCut, members } = family;
  const children = counts.subagent + counts.fork + counts.continuation;
  const deeper = below - children;
  return {
    label: `${formatFamilyCounts(family)}${isCut ? " or more" : ""}`,
    ...(deeper > 0 && { more: `${formatQuantity(deeper, "more", "more")} below` }),
    rows: members.map((member) => memberRow(member, zone)),
    ...(members.length < children && {
      all: { href: listHref({ parent: id }), label: `All ${formatCompact(children)}` },
    }),
  };
}

function memberRow(member: Member, zone: string): BelowRow {
  const { id, relation, title, source, own, updatedAt, dated, below } = member;
  const at = new Date(updatedAt);
  const exact = [
    formatQuantity(own.messages, "message"),
    own.tokens > 0 && formatQuantity(own.tokens, "token"),
    dated && longTime(at, zone),
  ];
  return {
    id,
    relation: words[relation][0],
    source,
    ...(title && { title }),
    messages: formatCompact(own.messages),
    ...(own.tokens > 0 && { tokens: formatCompact(own.tokens) }),
    ...(dated ? { at: updatedAt, when: shortTime(at, zone) } : { when: "no date" }),
    exact: exact.filter(Boolean).join(" · "),
    ...(below > 0 && { below: { href: listHref({ parent: id }), label: `${formatCompact(below)} below` } }),
  };
}

export const toOriginLink = ({ relation, title, parentId, position }: Origin) => ({
  words: originWords[relation],
  title: title ?? "an untitled session",
  href: `/traces/${parentId}${position === null ? "" : `?at=${position}`}`,
});

/** As exact as known; "" without any. */
export function formatFamilySums(own: { messages: number; tokens: number }, family: Family): string {
  const { sums } = family;
  const all = [
    formatQuantity(own.messages + sums.messages, "message"),
    own.tokens + sums.tokens > 0 && formatQuantity(own.tokens + sums.tokens, "token"),
  ];
  return `with ${formatFamilyCounts(family)}: ${all.filter(Boolean).join(" · ")}`;
}
