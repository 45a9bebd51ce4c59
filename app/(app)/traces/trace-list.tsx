import { labelText, type ProjectLabel } from "#lib/projects/queries";
import { isSubAgentName } from "#lib/reader/project";
import type { Excerpts } from "#lib/search/excerpts";
import type { WithPullRequests } from "#lib/traces/evidence";
import type { ListedTrace } from "#lib/traces/queries";
import { countOf, formatCompact, formatCount } from "../../components/figures";
import { longTime, shortTime } from "../../components/time";
import { readerZone } from "../../components/zone";
import { belowOf, type Kin, originOf, sumsOf } from "./families";
import { type Given, pullHref } from "./hrefs";
import { type Row, Rows } from "./rows";
import { costOf, describeCost, describeTokens, tokensOf } from "./spent";

type Shown = WithPullRequests<ListedTrace>;
type Labels = Map<string, ProjectLabel>;
type Props = {
  traces: Shown[];
  given: Given;
  kin: Kin;
  excerpts?: Map<string, Excerpts> | undefined;
  labels: Labels;
};

/** The sessions of a page, each with a box to tick. All text is made here, so that no format of the browser differs from it. */
export async function TraceList({ traces, given, kin, excerpts, labels }: Props) {
  const zone = await readerZone();
  const rows = traces.map((trace) => ({
    ...rowOf(trace, zone, excerpts?.get(trace.id), labels),
    ...aroundOf(trace, kin, zone),
  }));
  return <Rows rows={rows} given={given} />;
}

/** What is below a session, and what it is of. */
function aroundOf(trace: ListedTrace, kin: Kin, zone: string): Partial<Row> {
  const { id } = trace;
  const [family, origin] = [kin.families.get(id), kin.origins.get(id)];
  const own = { messages: trace.messageCount, tokens: trace.tokenCount };
  return {
    ...(family && { below: belowOf(id, family, zone), withBelow: sumsOf(own, family) }),
    ...(origin && { origin: originOf(origin) }),
  };
}

const changesOf = ({ filesChanged, linesAdded, linesRemoved }: Shown) =>
  `${countOf(filesChanged, "file")} changed, +${formatCount(linesAdded)} −${formatCount(linesRemoved)}`;

function rowOf(trace: Shown, zone: string, found: Excerpts | undefined, labels: Labels): Row {
  const { id, source, title, model, messageCount, latestAt } = trace;
  const at = new Date(latestAt);
  const [tokens, cost] = [tokensOf(trace), costOf(trace)];
  const exact = [
    countOf(messageCount, "message"),
    tokens > 0 && describeTokens(trace),
    cost,
    ...describeCost(trace),
    trace.filesChanged > 0 && changesOf(trace),
    longTime(at, zone),
  ];
  return {
    id,
    source,
    ...(title && { title }),
    ...projectOf(trace, labels),
    ...(model && { model }),
    ...pullOf(trace.pullRequests),
    messages: formatCompact(messageCount),
    ...(cost && { cost }),
    ...(tokens > 0 && { tokens: formatCompact(tokens) }),
    at: latestAt,
    when: shortTime(at, zone),
    exact: exact.filter(Boolean).join(" · "),
    ...(found && { found }),
  };
}

/** The first pull request, and how many more there are. */
function pullOf([first, ...more]: Shown["pullRequests"]): Pick<Row, "pull"> {
  if (!first) return {};
  const { repository, number } = first;
  const others = more.length > 0 && ` and ${countOf(more.length, "more", "more")}`;
  return {
    pull: {
      href: pullHref(repository, number),
      label: `#${number}${more.length > 0 ? ` +${more.length}` : ""}`,
      title: `Pull request ${repository}#${number}${others || ""}`,
    },
  };
}

/** A trace's project, or the name that came with it as long as the ledger has not found one. */
function projectOf({ project, projectId }: ListedTrace, labels: Labels): Pick<Row, "project" | "projectId"> {
  const label = labels.get(projectId ?? "");
  if (projectId && label) return { project: labelText(label), projectId };
  return project && !isSubAgentName(project) ? { project } : {};
}
