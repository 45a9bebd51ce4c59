import "server-only";
import { readPullRequestName } from "#common/evidence/remotes";
import { type Facet, facets } from "#lib/core/fields";
import { Prisma } from "#lib/generated/prisma/client";
import { datePattern, undated } from "#lib/prices/model";
import { type FileTerm, fileNamed, type RowTerm } from "#lib/search/query";
import type { TraceFilter } from "#lib/search/schema";

/** `storedUntil` excludes uploads after the selection was counted. */
export type Selection = TraceFilter & {
  ids?: string[] | undefined;
  storedUntil?: string | undefined;
  /** Only roots, ordered by the latest activity of their family. */
  families?: boolean | undefined;
  /** A reader's only project: nothing may reveal that there are others. */
  onlyProjectId?: string | undefined;
};

export type PlainSelection = Omit<Selection, "q"> & {
  q?: undefined;
  files?: FileTerm[] | undefined;
  rows?: RowTerm[] | undefined;
};

export type ListPlace = { activityAt: Date | string; id: string };

/** Must match `getShownTitle` in lib/transcript/titles/choose-title.ts. */
export const shownTitle = Prisma.raw(
  "coalesce(trace.custom_title, trace.short_title, trace.title, trace.derived_title)",
);
/** Includes the titles that are not shown. */
export const allTitles = Prisma.raw(
  "concat_ws(' ', trace.custom_title, trace.short_title, trace.title, trace.derived_title)",
);

/** An undated trace has the moment of its upload. */
export const tellUpdated = (row: { activityAt: Date; storedAt: Date; dated: boolean }): string =>
  (row.dated ? row.activityAt : row.storedAt).toISOString();

type Ordered = Pick<Selection, "families">;

/** Must match the indexes `trace_list` and `trace_roots`. */
export const selectMoment = ({ families }: Ordered): Prisma.Sql =>
  families ? Prisma.sql`greatest(activity_at, children_at)` : Prisma.sql`activity_at`;

export const listOrder = (selection: Ordered): Prisma.Sql =>
  Prisma.sql`order by ${selectMoment(selection)} desc, id desc`;

export const comesAfter = (selection: Ordered, { activityAt, id }: ListPlace): Prisma.Sql =>
  Prisma.sql`(${selectMoment(selection)}, id) < (${activityAt}, ${id}::uuid)`;

/** Clients know an undated trace by its upload. */
export const comesBefore = (userId: string, selection: Ordered, { activityAt, id }: ListPlace): Prisma.Sql =>
  Prisma.sql`(${selectMoment(selection)}, id) > (least(${activityAt}::timestamptz, (
    select ${selectMoment(selection)} from trace where user_id = ${userId} and id = ${id}::uuid)), ${id}::uuid)`;

/**
 * SQL: the list's index has the first 32 characters of each facet, and Prisma's conditions can't name an expression
 * (docs/decisions/0014).
 */
export function isSelected(userId: string, selection: PlainSelection): Prisma.Sql {
  const { from, to, ids, storedUntil, parent, roots, families, onlyProjectId } = selection;
  const conditions = [Prisma.sql`user_id = ${userId} and deleted_at is null`];
  for (const name of facets) {
    const values = toValues(selection[name]).map((value) => hasValue(name, value));
    if (values.length > 0) conditions.push(joinByOr(values));
  }
  if (onlyProjectId) conditions.push(Prisma.sql`project_id = ${onlyProjectId}::uuid`);
  if (roots || families)
    conditions.push(onlyProjectId ? hasNoParentIn(userId, onlyProjectId) : Prisma.sql`parent_id is null`);
  if (parent) conditions.push(Prisma.sql`parent_id = ${parent}::uuid`);
  const projects = toValues(selection.projectId);
  if (projects.length > 0) conditions.push(Prisma.sql`project_id = any(${projects}::uuid[])`);
  conditions.push(...hasEvidence(userId, selection));
  if (from) conditions.push(Prisma.sql`dated and ${selectMoment(selection)} >= ${from}::timestamptz`);
  if (to) conditions.push(Prisma.sql`dated and ${selectMoment(selection)} < ${to}::timestamptz`);
  if (ids) conditions.push(Prisma.sql`id = any(${ids}::uuid[])`);
  for (const file of selection.files ?? [])
    conditions.push(Prisma.sql`${Prisma.raw(file.excluded ? "not" : "")} ${hasFile(userId, isNamed(file))}`);
  const files = toValues(selection.file).flatMap((path) => fileNamed(path) ?? []);
  if (files.length > 0) conditions.push(hasFile(userId, joinByOr(files.map(isNamed))));
  for (const term of selection.rows ?? []) {
    const isMatching = matchesRow(userId, term);
    conditions.push(term.excluded ? Prisma.sql`(${isMatching}) is not true` : isMatching);
  }
  conditions.push(...hasMarks(selection));
  if (storedUntil) conditions.push(Prisma.sql`stored_at <= ${storedUntil}::timestamptz`);
  return Prisma.join(conditions, " and ");
}

const hasNoParentIn = (userId: string, projectId: string): Prisma.Sql =>
  Prisma.sql`(parent_id is null or not exists (select from trace as parent where parent.user_id = ${userId}
    and parent.id = trace.parent_id and parent.project_id = ${projectId}::uuid and parent.deleted_at is null))`;

const toValues = (given: string | string[] | undefined): string[] => (given === undefined ? [] : [given].flat());

/** A single condition is not changed, to keep its plan. */
const joinByOr = ([first, ...more]: Prisma.Sql[]): Prisma.Sql =>
  more.length === 0 && first ? first : Prisma.sql`(${Prisma.join([first, ...more], " or ")})`;

function hasValue(name: Facet, value: string): Prisma.Sql {
  if (name === "model" && undated(value) === value) return isModel(value);
  const column = Prisma.raw(name);
  return Prisma.sql`(${column} = ${value} and left(${column}, 32) = left(${value}::text, 32))`;
}

const hasFile = (userId: string, condition: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`exists (select from trace_file
    where trace_file.user_id = ${userId} and trace_file.trace_id = trace.id and ${condition})`;

const escaped = (text: string) => text.replace(/[\\%_]/g, "\\$&");

function matchesRow(userId: string, { name, value }: RowTerm): Prisma.Sql {
  if (name === "before") return Prisma.sql`(dated and activity_at < ${value}::timestamptz)`;
  if (name === "after") return Prisma.sql`(dated and activity_at >= ${value}::timestamptz)`;
  const beginning = `${escaped(value)}%`;
  const part = `[-_./: ]${value.replace(/[^\p{L}\p{N}]/gu, "\\$&")}`;
  const isLike = (column: string) => {
    const lower = Prisma.raw(`lower(${column})`);
    return Prisma.sql`(${lower} like ${beginning} or ${lower} ~ ${part})`;
  };
  if (name === "agent") return isLike("source");
  if (name === "model") return isLike("model");
  if (name === "branch")
    return Prisma.sql`id in (select trace_id from trace_branch where user_id = ${userId}::uuid and ${isLike("branch")})`;
  return Prisma.sql`(${isLike("project")} or project_id in (
    select id from project where user_id = ${userId}::uuid and ${isLike("name")}))`;
}

/** Includes dated names of the model; a name with a date matches only itself. */
const isModel = (value: string): Prisma.Sql =>
  Prisma.sql`(model = ${value} or (starts_with(model, ${value}) and substr(model, length(${value}::text) + 1) ~ ${datePattern}))`;

export function isNamed({ name, ending, changed }: FileTerm): Prisma.Sql {
  const onlyChanges = changed ? Prisma.sql`and trace_file.action <> 'read'` : Prisma.empty;
  const byName = Prisma.sql`trace_file.name = ${name} and trace_file.counted ${onlyChanges}`;
  if (ending === `/${name}`) return byName;
  return Prisma.sql`${byName} and right('/' || lower(trace_file.path), length(${ending}::text)) = ${ending}::text`;
}

function hasMarks(selection: PlainSelection): Prisma.Sql[] {
  const { starred, archived, trivial, errors, minCost, minMessages } = selection;
  const [tags, tools] = [toValues(selection.tag), toValues(selection.tool)];
  const is = (column: string, wanted: boolean | undefined) =>
    wanted === undefined ? [] : [Prisma.raw(`${column} is ${wanted ? "not " : ""}null`)];
  const conditions = [...is("starred_at", starred), ...is("archived_at", archived)];
  if (trivial !== undefined) conditions.push(Prisma.raw(trivial ? "trivial" : "not trivial"));
  if (errors !== undefined) conditions.push(Prisma.raw(errors ? "error_count > 0" : "error_count = 0"));
  if (tags.length > 0) conditions.push(Prisma.sql`cardinality(tags) > 0 and tags && ${tags}::text[]`);
  if (tools.length > 0)
    conditions.push(joinByOr(tools.map((tool) => Prisma.sql`position(${`\n${tool}\n`} in tools) > 0`)));
  if (minCost !== undefined) conditions.push(Prisma.sql`cost_nano >= ${minCost}::numeric * 1000000000`);
  if (minMessages !== undefined) conditions.push(Prisma.sql`message_count >= ${minMessages}::int`);
  return conditions;
}

/** docs/decisions/0046. */
function hasEvidence(userId: string, { branch, commit, pr }: PlainSelection): Prisma.Sql[] {
  const conditions: Prisma.Sql[] = [];
  const branches = toValues(branch);
  if (branches.length > 0)
    conditions.push(
      Prisma.sql`id in (
        select trace_id from trace_branch where user_id = ${userId}::uuid and branch = any(${branches}::text[]))`,
    );
  if (commit !== undefined) {
    // Either hash may abbreviate the other.
    const shorter = Array.from({ length: commit.length - 7 }, (_, at) => commit.slice(0, 7 + at));
    conditions.push(
      Prisma.sql`id in (select trace_id from trace_commit where user_id = ${userId}::uuid and counted
        and (hash like ${`${commit}%`} or hash = any(${shorter}::text[])))`,
    );
  }
  const named = pr === undefined ? undefined : readPullRequestName(pr);
  if (named) {
    const { number, repository, url } = named;
    const exact = [Prisma.sql`user_id = ${userId}::uuid and counted and number = ${number}::int`];
    if (repository !== undefined) exact.push(Prisma.sql`repository = ${repository}`);
    if (url !== undefined) exact.push(Prisma.sql`url = ${url}`);
    conditions.push(Prisma.sql`id in (select trace_id from trace_pull_request where ${Prisma.join(exact, " and ")})`);
  }
  return conditions;
}
