import { getModelFamily } from "#lib/prices/model";
import { labelText, type ProjectLabel } from "#lib/projects/queries";
import type { Excerpts } from "#lib/search/excerpts";
import type { WithPullRequests } from "#lib/traces/evidence";
import type { ListedTrace } from "#lib/traces/queries";
import type { Sort } from "#lib/traces/schema";
import type { Standing } from "#lib/traces/standing";
import { isSubAgentName } from "#lib/transcript/project";
import { addDays } from "#lib/usage/days";
import { readerZone } from "../../../components/shell/preferences";
import { findIcon, makeMonogram } from "../../../components/values/agent-icon";
import { formatDate, isoDay } from "../../../components/values/date-format";
import { formatCompact, formatQuantity } from "../../../components/values/figures";
import { shortTime } from "../../../components/values/time";
import { standingText } from "../[id]/frame/standing";
import type { GivenFilters } from "../hrefs";
import { formatFamilySums, type ListedFamilies, toBelow, toOriginLink } from "./families";
import { type ListGroup, type ListRow, Rows } from "./rows";
import { countTokens, describeCost, describeTier, formatCost } from "./spent";

type ShownTrace = WithPullRequests<ListedTrace>;
type Labels = Map<string, ProjectLabel>;
type Props = {
  traces: ShownTrace[];
  given: GivenFilters;
  /** Orders by time have days as headings. */
  sort: Sort | undefined;
  kin: ListedFamilies;
  excerpts?: Map<string, Excerpts> | undefined;
  labels: Labels;
  branches: Map<string, string>;
  standings: Map<string, Standing["waiting"]>;
};

export async function TraceList({ traces, given, sort, kin, excerpts, labels, branches, standings }: Props) {
  const zone = await readerZone();
  const isByDay = sort === "activity" || sort === "start";
  const groups: ListGroup[] = [];
  for (const trace of traces) {
    const at = sort === "start" ? findStart(trace) : findLatest(trace);
    const heading = isByDay ? (at ? getDayLabel(at, zone) : "No date") : undefined;
    if (groups.length === 0 || groups.at(-1)?.heading !== heading)
      groups.push({ ...(heading && { heading }), rows: [] });
    const [branch, waiting] = [branches.get(trace.id), standings.get(trace.id)];
    groups.at(-1)?.rows.push({
      ...toListRow(trace, excerpts?.get(trace.id), labels),
      ...describeMoment(at, isByDay, zone),
      ...(branch && { branch }),
      ...(waiting !== undefined && { live: standingText(waiting) }),
      ...describeSurroundings(trace, kin, zone),
    });
  }
  return <Rows groups={groups} given={given} zone={zone} />;
}

const findStart = ({ createdAt, updatedAt, dated }: ShownTrace) =>
  createdAt !== null || dated ? new Date(createdAt ?? updatedAt) : undefined;

/** 1970 means no date. */
const findLatest = ({ latestAt, dated }: ShownTrace) =>
  dated || Date.parse(latestAt) > 0 ? new Date(latestAt) : undefined;

function describeMoment(at: Date | undefined, isByDay: boolean, zone: string): Pick<ListRow, "at" | "when"> {
  if (!at) return { when: isByDay ? "" : "no date" };
  const when = isByDay ? formatDate(at, zone, { hour: "2-digit", minute: "2-digit" }) : shortTime(at, zone);
  return { at: at.toISOString().replace(/\.\d+/, ""), when };
}

function getDayLabel(date: Date, zone: string): string {
  const [day, today] = [isoDay(date, zone), isoDay(new Date(), zone)];
  if (day === today) return "Today";
  if (day === addDays(today, -1)) return "Yesterday";
  const isThisYear = day.slice(0, 4) === today.slice(0, 4);
  return formatDate(date, zone, {
    weekday: "long",
    day: "numeric",
    month: "long",
    ...(!isThisYear && { year: "numeric" }),
  });
}

function describeSurroundings(trace: ListedTrace, kin: ListedFamilies, zone: string): Partial<ListRow> {
  const { id } = trace;
  const [family, origin] = [kin.families.get(id), kin.origins.get(id)];
  const own = { messages: trace.messageCount, tokens: countTokens(trace) };
  return {
    ...(family && { below: toBelow(id, family, zone), withBelow: formatFamilySums(own, family) }),
    ...(origin && { origin: toOriginLink(origin) }),
  };
}

/** More than two lines on any screen. */
const maxTitle = 240;

const bounded = (title: string) => (title.length > maxTitle ? `${title.slice(0, maxTitle).toWellFormed()}…` : title);

function toListRow(trace: ShownTrace, found: Excerpts | undefined, labels: Labels): Omit<ListRow, "at" | "when"> {
  const { id, source, title, shortTitle, model, machine, messageCount, starredAt, tags, errorCount, spark } = trace;
  const [tokens, cost, icon] = [countTokens(trace), formatCost(trace), findIcon(source)];
  const exact = [
    formatQuantity(messageCount, "message"),
    ...(tokens > 0 ? [formatQuantity(tokens, "token")] : []),
    ...describeTier(trace.usage.tierNotPricedTokens),
    ...describeCost(trace),
  ];
  const family = model && getModelFamily(model);
  return {
    id,
    source,
    ...(icon && icon !== source && { icon }),
    ...(!icon && { monogram: makeMonogram(source) }),
    ...(shortTitle && { title: bounded(shortTitle) }),
    ...(title && title !== shortTitle && { whole: bounded(title) }),
    ...(starredAt && { star: true as const }),
    ...(tags.length > 0 && { tags }),
    ...getProjectLabel(trace, labels),
    ...(family && { model: family, ...(family !== model && { exactModel: model }) }),
    ...(trace.metadata?.kind === "prompts-only" && { promptsOnly: true as const }),
    ...(trace.usage.tierNotPricedTokens > 0 && { tierNotPriced: true as const }),
    ...(machine && { machine }),
    ...formatPull(trace.pullRequests),
    ...(errorCount > 0 && { errors: formatQuantity(errorCount, "error") }),
    ...formatChanges(trace),
    ...(trace.activeSeconds >= 60 && { took: formatTook(trace.activeSeconds) }),
    messages: formatCompact(messageCount),
    ...(cost && { cost }),
    ...(spark && { spark }),
    exact: exact.join(" · "),
    ...(found && { found }),
  };
}

const formatChanges = ({ linesAdded, linesRemoved }: ShownTrace): Partial<ListRow> =>
  linesAdded + linesRemoved > 0 ? { added: formatCompact(linesAdded), removed: formatCompact(linesRemoved) } : {};

/** Without pauses: "42m", "3h 05m". */
function formatTook(seconds: number): string {
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes}m` : `${Math.floor(minutes / 60)}h ${String(minutes % 60).padStart(2, "0")}m`;
}

function formatPull([first, ...more]: ShownTrace["pullRequests"]): Pick<ListRow, "pull"> {
  return first ? { pull: [first.repository, first.number, more.length] } : {};
}

function getProjectLabel({ project, projectId }: ListedTrace, labels: Labels): Pick<ListRow, "project" | "projectId"> {
  const label = labels.get(projectId ?? "");
  if (projectId && label) return { project: labelText(label), projectId };
  return project && !isSubAgentName(project) ? { project } : {};
}
