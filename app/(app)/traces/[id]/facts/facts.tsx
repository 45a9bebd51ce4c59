import { requireUser } from "#lib/auth/guards";
import { countInTrace } from "#lib/findings/findings";
import { getModelFamily } from "#lib/prices/model";
import { labelText, readLabels } from "#lib/projects/queries";
import type { Evidence } from "#lib/traces/evidence";
import type { Trace } from "#lib/traces/queries";
import type { Circumstances } from "#lib/traces/usage";
import { isSubAgentName } from "#lib/transcript/project";
import { Notice } from "../../../../components/notice";
import { Sign } from "../../../../components/sign";
import { AgentIcon } from "../../../../components/values/agent-icon";
import { formatQuantity } from "../../../../components/values/figures";
import { findingsHref } from "../../../findings/params";
import { listHref } from "../../hrefs";
import { Actions } from "./actions";
import { Details } from "./details";
import { type Copy, ExactCopy } from "./exact-copy";
import { FamilyFacts, type FamilyNumbers, OriginLine } from "./family";
import { HeadFigures, Title } from "./head";
import type { ResumeWay } from "./resume";

type Props = {
  trace: Trace;
  copy: Copy | undefined;
  kin: FamilyNumbers;
  circumstances: Circumstances;
  branches: Evidence["branches"];
  resume: ResumeWay[];
  deleting: React.ReactNode;
};

export function TraceFacts({ trace, copy, kin, circumstances, branches, resume, deleting }: Props) {
  return (
    <div className="session-head">
      <Title text={trace.shortTitle || "Untitled session"} whole={trace.title} />
      <Actions trace={trace} />
      <HeadFigures trace={trace} models={circumstances.models} />
      <div className="head-chips">
        <Chips trace={trace} circumstances={circumstances} branches={branches} />
        <Details trace={trace} circumstances={circumstances} resume={resume} />
      </div>
      {trace.note && <p className="max-w-[72ch] whitespace-pre-wrap text-muted">{trace.note}</p>}
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
      {copy && <ExactCopy traceId={trace.id} copy={copy} />}
      {deleting}
    </div>
  );
}

type ChipsProps = Pick<Props, "trace" | "circumstances" | "branches">;

const max = { models: 3, branches: 2 };

function Chips({ trace, circumstances, branches }: ChipsProps) {
  const { id, source, model, messageCount, tags } = trace;
  return (
    <>
      <a href={listHref({ source })} title={`Sessions of ${source}`} className="chip">
        <AgentIcon source={source} /> {source}
      </a>
      {[...listModels(model, circumstances)].slice(0, max.models).map(([family, names]) => (
        <a key={family} href={listHref({ model: names })} title={names.join(", ")} className="chip">
          {family}
        </a>
      ))}
      <ProjectLink trace={trace} />
      {branches.slice(0, max.branches).map(({ branch }) => (
        <a key={branch} href={listHref({ branch })} title={`Sessions on ${branch}`} className="chip">
          <Sign name="branch" /> <span className="truncate font-mono text-meta">{branch}</span>
        </a>
      ))}
      {tags.map((tag) => (
        <a key={tag} href={listHref({ tag })} title={`Sessions with the tag ${tag}`} className="chip">
          #{tag}
        </a>
      ))}
      <Secrets traceId={id} />
      <span className="chip-plain">{formatQuantity(messageCount, "message")}</span>
      {circumstances.machine && <span className="chip-plain max-sm:hidden">{circumstances.machine}</span>}
    </>
  );
}

async function ProjectLink({ trace: { id, project, projectId } }: { trace: Trace }) {
  const label = projectId
    ? (await readLabels((await requireUser(`/traces/${id}`)).id, [projectId])).get(projectId)
    : undefined;
  if (!label && (!project || isSubAgentName(project))) return null;
  return (
    <a href={label ? `/projects/${projectId}` : listHref({ project: project ?? "" })} title="Project" className="chip">
      <span className="i-lucide-folder size-3.5 shrink-0 text-muted" />
      <span className="truncate">{label ? labelText(label) : project}</span>
    </a>
  );
}

function listModels(model: string | null, { models }: Circumstances): Map<string, string[]> {
  const names = new Set([model, ...models.map((use) => use.model)].filter((name) => name !== null));
  return Map.groupBy(names, getModelFamily);
}

async function Secrets({ traceId }: { traceId: string }) {
  const user = await requireUser(`/traces/${traceId}`);
  const { masked, open } = await countInTrace(user.id, traceId);
  return (
    <>
      {masked > 0 && (
        <a href={findingsHref({ trace: traceId, state: "masked" })} className="chip">
          {formatQuantity(masked, "secret")} masked
        </a>
      )}
      {open > 0 && (
        <a href={findingsHref({ trace: traceId, state: "open" })} className="chip text-warn">
          {formatQuantity(open, "secret")} not masked
        </a>
      )}
    </>
  );
}
