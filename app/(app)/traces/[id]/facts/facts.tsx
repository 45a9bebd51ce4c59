import { requireUser } from "#lib/auth/guards";
import { countInTrace } from "#lib/findings/findings";
import { getModelFamily } from "#lib/prices/model";
import { labelText, readLabels } from "#lib/projects/queries";
import { listShares } from "#lib/shares/shares";
import type { Trace } from "#lib/traces/queries";
import type { Circumstances } from "#lib/traces/usage";
import { isSubAgentName } from "#lib/transcript/project";
import { Notice } from "../../../../components/notice";
import { AgentIcon } from "../../../../components/values/agent-icon";
import { formatMilliseconds } from "../../../../components/values/date-format";
import { formatQuantity } from "../../../../components/values/figures";
import { Time } from "../../../../components/values/time";
import { findingsHref } from "../../../findings/params";
import { listHref } from "../../hrefs";
import { Marks } from "../../marks/marks";
import { ContextChart } from "./context-chart";
import { ExactCopy } from "./copy";
import { Details } from "./details";
import { FamilyFacts, type FamilyNumbers, OriginLine } from "./family";
import type { ResumeWay } from "./resume";
import { Spent } from "./spent";

type Props = {
  trace: Trace;
  kin: FamilyNumbers;
  circumstances: Circumstances;
  resume: ResumeWay[];
  deleting: React.ReactNode;
};

export function TraceFacts({ trace, kin, circumstances, resume, deleting }: Props) {
  const { source, model } = trace;
  return (
    <div className="flex flex-col gap-2 py-3">
      <p className="flex flex-wrap items-center gap-x-4 gap-y-1 text-code">
        <a href={listHref({ source })} className="quiet-link target flex items-center gap-2">
          <AgentIcon source={source} /> {source}
        </a>
        {[...listModels(model, circumstances)].slice(0, maxModels).map(([family, names]) => (
          <a
            key={family}
            href={listHref({ model: names })}
            title={names.join(", ")}
            className="quiet-link target break-all"
          >
            {family}
          </a>
        ))}
        <ProjectLink trace={trace} />
        {circumstances.machine && <span className="break-all text-muted">{circumstances.machine}</span>}
        <Span trace={trace} />
        <span>{formatQuantity(trace.messageCount, "message")}</span>
        <Spent trace={trace} models={circumstances.models} />
        <ContextChart context={circumstances.context} />
        <Secrets traceId={trace.id} />
      </p>
      {trace.metadata?.kind === "prompts-only" && (
        <Notice tone="info">
          <p>Prompts only: the agent's own file of this session is gone. It is in no sum of usage.</p>
        </Notice>
      )}
      {trace.sanitized && (
        <Notice tone="warn">
          <p>Some characters couldn't be stored; each of them shows as “�”.</p>
        </Notice>
      )}
      {kin.origin && <OriginLine origin={kin.origin} />}
      {kin.family && <FamilyFacts traceId={trace.id} own={kin.own} family={kin.family} />}
      <ExactCopy trace={trace} />
      <div className="session-ways">
        <Marks trace={trace} />
        <ShareLink traceId={trace.id} />
        <Exports id={trace.id} />
        <Details trace={trace} circumstances={circumstances} resume={resume} />
        {!deleting && <AskToDelete />}
      </div>
      {deleting}
    </div>
  );
}

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

function listModels(model: string | null, { models }: Circumstances): Map<string, string[]> {
  const names = new Set([model, ...models.map((use) => use.model)].filter((name) => name !== null));
  return Map.groupBy(names, getModelFamily);
}

const maxModels = 3;

function Exports({ id }: { id: string }) {
  const ways = [
    ["Markdown", "export.md"],
    ["JSON", "export.json"],
    ["Markdown (secrets masked)", "export.md?masked=all"],
    ["JSON (secrets masked)", "export.json?masked=all"],
    ["Raw messages", "messages"],
  ];
  return (
    <details data-menu className="relative">
      <summary className="text-muted hover:text-text">Export</summary>
      <div className="absolute top-full left-0 z-[4] flex w-max flex-col rounded-block border border-hairline bg-overlay p-2 shadow-lg">
        {ways.map(([name, file]) => (
          <a
            key={file}
            href={`/api/traces/${id}/${file}`}
            className="flex h-8 items-center rounded-control px-2 hover:bg-block pointer-coarse:h-11"
          >
            {name}
          </a>
        ))}
      </div>
    </details>
  );
}

function Span({ trace }: { trace: Trace }) {
  const { createdAt: from, updatedAt: to, dated, activeSeconds } = trace;
  if (!dated) return <span className="text-muted">no date</span>;
  return (
    <span className="text-muted">
      {from && from < to && (
        <>
          <Time at={from} as="moment" /> –{" "}
        </>
      )}
      <Time at={to} as="moment" />
      {activeSeconds > 0 && (
        <span title="Without pauses of more than five minutes" className="whitespace-nowrap">
          {" "}
          ({formatMilliseconds(activeSeconds * 1000)} active)
        </span>
      )}
    </span>
  );
}

function AskToDelete() {
  return (
    <form method="get" className="ml-auto">
      <input type="hidden" name="delete" value="1" />
      <button type="submit" data-command="Delete" className="text-muted hover:text-bad">
        Delete
      </button>
    </form>
  );
}

async function ShareLink({ traceId }: { traceId: string }) {
  const user = await requireUser(`/traces/${traceId}`);
  const shares = await listShares(user.id, traceId);
  return (
    <a href={`/traces/${traceId}/share`} data-command="Share" className="text-muted hover:text-text">
      {shares.length > 0 ? `Shared by ${formatQuantity(shares.length, "link")}` : "Share"}
    </a>
  );
}

async function Secrets({ traceId }: { traceId: string }) {
  const user = await requireUser(`/traces/${traceId}`);
  const { masked, open } = await countInTrace(user.id, traceId);
  return (
    <>
      {masked > 0 && (
        <a href={findingsHref({ trace: traceId, state: "masked" })} className="quiet-link target">
          {formatQuantity(masked, "secret")} masked
        </a>
      )}
      {open > 0 && (
        <a href={findingsHref({ trace: traceId, state: "open" })} className="quiet-link target text-warn">
          {formatQuantity(open, "secret")} not masked
        </a>
      )}
    </>
  );
}
