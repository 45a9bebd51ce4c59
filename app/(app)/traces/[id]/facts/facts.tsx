import { requireUser } from "#lib/auth/guards";
import { labelText, readLabels } from "#lib/projects/queries";
import { isSubAgentName } from "#lib/reader/project";
import type { Trace } from "#lib/traces/queries";
import { countOf } from "../../../../components/figures";
import { Monogram } from "../../../../components/mark";
import { Notice } from "../../../../components/notice";
import { Time } from "../../../../components/time";
import { listHref } from "../../hrefs";
import { FamilyFacts, type Kin, OriginLine } from "./family";
import { Metadata } from "./metadata";
import { ShareLink } from "./share";
import { Spent } from "./spent";

type Props = { trace: Trace; kin: Kin; deleting: React.ReactNode };

/** What a session is, and what can be done with it as a whole. @param deleting the question whether to delete it, once asked */
export function TraceFacts({ trace, kin, deleting }: Props) {
  const { source, model } = trace;
  return (
    <div className="flex flex-col gap-2 py-3">
      <p className="flex flex-wrap items-center gap-x-4 gap-y-1 text-code">
        <a href={listHref({ source })} className="quiet-link target flex items-center gap-2">
          <Monogram source={source} /> {source}
        </a>
        {model && (
          <a href={listHref({ model })} className="quiet-link target break-all">
            {model}
          </a>
        )}
        <ProjectLink trace={trace} />
        <Span from={trace.createdAt} to={trace.updatedAt} />
        <span>{countOf(trace.messageCount, "message")}</span>
        <Spent trace={trace} />
      </p>
      {trace.sanitized && (
        <Notice tone="warn">
          <p>Some characters couldn't be stored; each of them shows as “�”.</p>
        </Notice>
      )}
      {kin.origin && <OriginLine origin={kin.origin} />}
      {kin.family && <FamilyFacts traceId={trace.id} own={kin.own} family={kin.family} />}
      <div className="session-ways">
        <a href={`/api/traces/${trace.id}/export.md`} className="link">
          Markdown
        </a>
        <a href={`/api/traces/${trace.id}/export.json`} className="link">
          JSON
        </a>
        <a href={`/api/traces/${trace.id}/messages`} className="link">
          Raw messages
        </a>
        {trace.metadata && <Metadata value={trace.metadata} />}
        <ShareLink traceId={trace.id} />
        {!deleting && <AskToDelete />}
      </div>
      {deleting}
    </div>
  );
}

/** The session's project, or the name that came with it as long as none is known. */
async function ProjectLink({ trace: { id, project, projectId } }: { trace: Trace }) {
  const label = projectId
    ? (await readLabels((await requireUser(`/traces/${id}`)).id, [projectId])).get(projectId)
    : undefined;
  if (!label && (!project || isSubAgentName(project))) return null;
  return (
    <a
      href={label ? `/projects/${projectId}` : listHref({ project: project ?? "" })}
      className="quiet-link target break-all"
    >
      {label ? labelText(label) : project}
    </a>
  );
}

/** From the first to the last activity; one moment if they are the same or the first is unknown. */
function Span({ from, to }: { from: string | null; to: string }) {
  return (
    <span className="text-muted">
      {from && from < to && (
        <>
          <Time at={from} as="moment" /> –{" "}
        </>
      )}
      <Time at={to} as="moment" />
    </span>
  );
}

/** Leads to the confirmation. It changes nothing, so it is a GET and works without script. */
function AskToDelete() {
  return (
    <form method="get">
      <input type="hidden" name="delete" value="1" />
      <button type="submit" className="text-muted hover:text-text">
        Delete
      </button>
    </form>
  );
}
