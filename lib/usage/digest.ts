import "server-only";
import type { PoolClient } from "pg";
import { heavyRead } from "#lib/db/heavy";
import { isSubAgentName } from "#lib/transcript/project";
import { addDays, dayAt } from "#lib/usage/days";
import { readProjectNames } from "#lib/usage/queries";
import { getBoundaries, listSpans, quarterBefore } from "#lib/usage/spans";
import { readGone, readSeconds } from "#lib/usage/sql/quarters";
import { type ReportRow, readReport } from "#lib/usage/sql/report";

/** `seconds` of activity, without pauses. */
export type Digest = { sessions: number; messages: number; costNano: number; seconds: number };

/** `id` is undefined if the name has no project. */
export type ProjectDigest = Omit<Digest, "seconds"> & { id: string | undefined; name: string };

export type Digests = {
  /** Rounded down to a quarter of an hour. */
  since: Digest | undefined;
  today: Digest;
  yesterday: Digest;
  /** From Monday to Sunday; `days` also has the week before. */
  week: Digest;
  weekBefore: Digest;
  days: (Digest & { day: string })[];
  projects: ProjectDigest[];
};

const maxProjects = 8;

export async function readDigests(
  userId: string,
  { zone, now, since }: { zone: string; now: Date; since: Date | undefined },
): Promise<Digests> {
  const today = dayAt(now, zone);
  const monday = addDays(today, -((new Date(`${today}T00:00:00Z`).getUTCDay() + 6) % 7));
  const dayStarts = getBoundaries(listSpans(addDays(monday, -7), today, "day", zone));
  const weekStarts = getBoundaries(listSpans(addDays(monday, -7), today, "week", zone));
  const end = dayStarts.at(-1) ?? now;
  const newsStarts = since && since < end ? [new Date(quarterBefore(since.getTime())), end] : undefined;
  const read = await heavyRead(userId, async (tx) => {
    const gone = await readGone(tx, userId);
    return {
      days: await readSpans(tx, userId, dayStarts, gone),
      weeks: await readSpans(tx, userId, weekStarts, gone),
      news: newsStarts && (await readSpans(tx, userId, newsStarts, gone)),
      projects: await readProjects(tx, userId, weekStarts.slice(1), gone),
    };
  });
  const days = read.days.map((digest, place) => ({ ...digest, day: addDays(monday, place - 7) }));
  const [weekBefore = none, week = none] = read.weeks;
  return {
    since: read.news?.[0],
    today: days.at(-1) ?? none,
    yesterday: days.at(-2) ?? none,
    ...{ week, weekBefore, days },
    projects: await nameProjects(userId, read.projects),
  };
}

const none: Digest = { sessions: 0, messages: 0, costNano: 0, seconds: 0 };

async function readSpans(tx: PoolClient, userId: string, starts: Date[], gone: string[]): Promise<Digest[]> {
  const request = { starts, gone, facets: [], maxValues: 1, filter: {}, spans: { by: undefined } };
  const rows = await readReport(tx, userId, request);
  const active = await readSeconds(tx, userId, starts, gone);
  return starts.slice(1).map((_, span) => {
    const seconds = active.find((one) => one.span === span)?.seconds ?? 0;
    return { ...toFigures(rows.find((row) => row.span === span)), seconds };
  });
}

const toFigures = (row: ReportRow | undefined) => ({
  sessions: row?.sessions ?? 0,
  messages: row?.messages ?? 0,
  costNano: row?.cost_nano ?? 0,
});

async function readProjects(tx: PoolClient, userId: string, starts: Date[], gone: string[]): Promise<ReportRow[]> {
  const facets = ["project"] as const;
  const request = { starts, gone, facets: [...facets], maxValues: maxProjects + 1, filter: {}, spans: undefined };
  const rows = await readReport(tx, userId, request);
  const isProject = ({ facet, value }: ReportRow) => facet === "project" && value !== null && !isSubAgentName(value);
  return rows.filter(isProject).slice(0, maxProjects);
}

async function nameProjects(userId: string, rows: ReportRow[]): Promise<ProjectDigest[]> {
  const names = await readProjectNames(
    userId,
    rows.map(({ value }) => value),
  );
  const projects = rows.map(({ value, ...row }): ProjectDigest => {
    const name = names.get(value ?? "");
    return {
      ...toFigures({ value, ...row }),
      id: name === undefined ? undefined : (value ?? undefined),
      name: name ?? value ?? "",
    };
  });
  return projects.sort((a, b) => b.costNano - a.costNano || b.messages - a.messages);
}
