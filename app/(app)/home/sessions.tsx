import { labelText, type ProjectLabel } from "#lib/projects/queries";
import { isSubAgentName } from "#lib/transcript/project";
import { Monogram } from "../../components/values/agent-icon";
import { formatCount, formatQuantity } from "../../components/values/figures";
import { formatMoney } from "../../components/values/money";
import { ActivityTime } from "../../components/values/time";
import { standingText } from "../traces/[id]/frame/standing";
import { pullHref } from "../traces/hrefs";
import type { News, NewsSession } from "./news";

type Standings = News["standings"];
type Props = { label: string; sessions: NewsSession[]; labels: Map<string, ProjectLabel>; standings?: Standings };

export function Sessions({ label, sessions, labels, standings }: Props) {
  return (
    <ul aria-label={label} className="news">
      {sessions.map((session) => (
        <li key={session.id}>
          <Monogram source={session.source} />
          <a href={`/traces/${session.id}`} title={session.title ?? undefined} className="quiet-link">
            {session.shortTitle || "Untitled session"}
          </a>
          <p>
            {standings && <span className="live-mark">{standingText(standings.get(session.id) ?? null)}</span>}
            <Project session={session} labels={labels} />
            <span>{formatQuantity(session.messageCount, "message")}</span>
            {session.costNano > 0 && <span>{formatMoney(session.costNano)}</span>}
            {session.linesAdded + session.linesRemoved > 0 && (
              <span title={`Lines changed by all edits, in ${formatQuantity(session.filesChanged, "file")}`}>
                <span className="text-ok">+{formatCount(session.linesAdded)}</span>{" "}
                <span className="text-bad">−{formatCount(session.linesRemoved)}</span>
              </span>
            )}
            {session.errorCount > 0 && <span className="text-bad">{formatQuantity(session.errorCount, "error")}</span>}
            {session.pullRequests.slice(0, 2).map(({ repository, number }) => (
              <a key={`${repository} ${number}`} href={pullHref(repository, number)} className="quiet-link font-medium">
                {repository.split("/").at(-1)}#{number}
              </a>
            ))}
            <ActivityTime
              of={{ updatedAt: session.latestAt, dated: session.dated }}
              as={standings ? "ago" : "moment"}
            />
          </p>
        </li>
      ))}
    </ul>
  );
}

function Project({ session: { project, projectId }, labels }: { session: NewsSession; labels: Props["labels"] }) {
  const label = labels.get(projectId ?? "");
  if (projectId && label)
    return (
      <a href={`/projects/${projectId}`} className="quiet-link">
        <bdi>{labelText(label)}</bdi>
      </a>
    );
  return project && !isSubAgentName(project) ? <bdi>{project}</bdi> : null;
}
