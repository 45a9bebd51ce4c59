import { type FindingState, type FindingsQuery, findingsQuery } from "#lib/findings/schema";
import type { SearchParams } from "../../components/shell/pages";

export const stateNames: Record<FindingState, string> = {
  open: "Not masked",
  masking: "Being masked",
  masked: "Masked",
  kept: "Dismissed",
};

export const ages = { 7: "last 7 days", 30: "last 30 days", 90: "last 90 days" } as const;

/** Ignores invalid parameters, so that old links still show a list. */
export function readParams({ session, ...params }: SearchParams): FindingsQuery {
  const asked = Object.entries({ trace: session, ...params }).filter(
    ([name, value]) => value !== "" && findingsQuery.safeParse({ [name]: value }).success,
  );
  return findingsQuery.parse(Object.fromEntries(asked));
}

export function findingsHref(filters: { [Name in keyof FindingsQuery]?: FindingsQuery[Name] | undefined }): string {
  const { limit: _limit, ...given } = filters;
  const entries = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, `${value}`]]));
  return entries.length === 0 ? "/findings" : `/findings?${new URLSearchParams(entries)}`;
}
