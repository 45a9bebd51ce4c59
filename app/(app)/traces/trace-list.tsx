import { labelText, type ProjectLabel } from "#lib/projects/queries";
import { isSubAgentName } from "#lib/reader/project";
import type { Excerpts } from "#lib/search/excerpts";
import type { Trace } from "#lib/traces/queries";
import { countOf, formatCompact } from "../../components/figures";
import { longTime, shortTime } from "../../components/time";
import { readerZone } from "../../components/zone";
import type { Given } from "./hrefs";
import { type Row, Rows } from "./rows";

type Labels = Map<string, ProjectLabel>;
type Props = { traces: Trace[]; given: Given; excerpts?: Map<string, Excerpts> | undefined; labels: Labels };

/** The sessions of a page, each with a box to tick. All text is made here, so that no format of the browser differs from it. */
export async function TraceList({ traces, given, excerpts, labels }: Props) {
  const zone = await readerZone();
  return <Rows rows={traces.map((trace) => rowOf(trace, zone, excerpts?.get(trace.id), labels))} given={given} />;
}

function rowOf(trace: Trace, zone: string, found: Excerpts | undefined, labels: Labels): Row {
  const { id, source, title, model, messageCount, tokenCount, updatedAt } = trace;
  const at = new Date(updatedAt);
  const exact = [countOf(messageCount, "message"), tokenCount > 0 && countOf(tokenCount, "token"), longTime(at, zone)];
  return {
    id,
    source,
    ...(title && { title }),
    ...projectOf(trace, labels),
    ...(model && { model }),
    messages: formatCompact(messageCount),
    ...(tokenCount > 0 && { tokens: formatCompact(tokenCount) }),
    at: updatedAt,
    when: shortTime(at, zone),
    exact: exact.filter(Boolean).join(" · "),
    ...(found && { found }),
  };
}

/** A trace's project, or the name that came with it as long as the ledger has not found one. */
function projectOf({ project, projectId }: Trace, labels: Labels): Pick<Row, "project" | "projectId"> {
  const label = labels.get(projectId ?? "");
  if (projectId && label) return { project: labelText(label), projectId };
  return project && !isSubAgentName(project) ? { project } : {};
}
