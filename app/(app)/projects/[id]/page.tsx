import type { Metadata } from "next";
import { notFound, redirect } from "next/navigation";
import { cache } from "react";
import { z } from "zod";
import { requireUser } from "#lib/auth/guards";
import { usedTokens } from "#lib/core/fields";
import { canUndo, getProject, mergedInto, type ProjectDetails } from "#lib/projects/queries";
import { givenName } from "#lib/projects/schema";
import { listTraces } from "#lib/traces/queries";
import { countDueTraces } from "#lib/usage/queries";
import { Form } from "../../../components/forms/form";
import { orMissing } from "../../../components/missing";
import { Notice } from "../../../components/notice";
import { Section } from "../../../components/section";
import type { SearchParams } from "../../../components/shell/pages";
import { Refresh } from "../../../components/shell/refresh";
import { Monogram } from "../../../components/values/agent-icon";
import { Counting } from "../../../components/values/counting";
import { Figure, formatCount, formatQuantity } from "../../../components/values/figures";
import { formatMoney } from "../../../components/values/money";
import { ActivityTime, Time } from "../../../components/values/time";
import { listHref, traceHref } from "../../traces/hrefs";
import { describeTier } from "../../traces/list/spent";
import { renameAction, undoAction } from "../actions";
import { Aliases } from "./aliases";
import { Merge } from "./merge";
import { Months } from "./months";
import { Shares } from "./shares";

export async function generateMetadata({ params }: PageProps<"/projects/[id]">): Promise<Metadata> {
  return { title: (await ownProject((await params).id)).name };
}

export default async function Page({ params, searchParams }: PageProps<"/projects/[id]">) {
  const { id } = await params;
  const user = await requireUser(`/projects/${id}`);
  const [project, query, due] = await Promise.all([ownProject(id), searchParams, countDueTraces(user.id)]);
  return (
    <div className="flex flex-col gap-8">
      <div className="flex flex-col gap-3">
        <Merged id={id} query={query} />
        <Head project={project} />
        <Figures project={project} />
        <Counting sessions={due} />
      </div>
      <Months months={project.byMonth} />
      <Sessions project={project} />
      <div className="grid gap-x-12 gap-y-8 md:grid-cols-2">
        <Shares title="Branches" filter="branch" project={project} shares={project.byBranch} />
        <Shares title="Agents" filter="source" project={project} shares={project.byAgent} />
        <Shares title="Models" filter="model" project={project} shares={project.byModel} />
        <Shares title="Machines" filter="machine" project={project} shares={project.byMachine} />
      </div>
      <Aliases project={project} />
      <Merge project={project} query={query} />
    </div>
  );
}

/** A merged project redirects. */
const ownProject = cache(async (id: string): Promise<ProjectDetails> => {
  const user = await requireUser(`/projects/${encodeURIComponent(id)}`);
  if (!z.uuid().safeParse(id).success) notFound();
  const into = await mergedInto(user.id, id);
  if (into) redirect(`/projects/${into}`);
  return orMissing(getProject(user.id, id));
});

async function Merged({ id, query: { merged, name } }: { id: string; query: SearchParams }) {
  const from = z.uuid().safeParse(merged);
  const user = await requireUser(`/projects/${encodeURIComponent(id)}`);
  if (!from.success || !(await canUndo(user.id, id, from.data))) return null;
  const shown = givenName.safeParse(name).data;
  return (
    <Notice tone="info">
      <p role="status">
        {shown ? (
          <>
            <bdi className="font-medium">{shown}</bdi> was merged into this project.
          </>
        ) : (
          "Another project was merged into this one."
        )}
      </p>
      <form action={undoAction}>
        <input type="hidden" name="id" value={id} />
        <input type="hidden" name="merged" value={from.data} />
        <input type="hidden" name="name" value={shown ?? ""} />
        <button type="submit" className="button">
          Undo
        </button>
      </form>
    </Notice>
  );
}

function Head({ project: { id, name, distinction } }: { project: ProjectDetails }) {
  return (
    <>
      <div>
        <h1 className="font-semibold text-title [overflow-wrap:anywhere]">
          <bdi>{name}</bdi>
        </h1>
        {distinction && (
          <p className="font-mono text-code text-muted [overflow-wrap:anywhere]">
            <bdi>{distinction}</bdi>
          </p>
        )}
      </div>
      <details>
        <summary className="w-fit text-code text-muted hover:text-text">Rename</summary>
        <div className="mt-2 max-w-[25rem]">
          <Form
            action={renameAction}
            hidden={{ id }}
            fields={[{ name: "name", label: "Name", autoComplete: "off", maxLength: 128, value: name }]}
            submit="Save name"
          />
        </div>
      </details>
    </>
  );
}

function Figures({ project }: { project: ProjectDetails }) {
  const { id, sessions, sessionsPutAway, costNano, usage, lastActiveAt, agents } = project;
  const tokens = usedTokens(project.usage, 0);
  if (sessions === 0)
    return (
      <Notice tone="info">
        <p>Its sessions are still being moved. This page updates automatically.</p>
        <Refresh everySeconds={3} />
      </Notice>
    );
  return (
    <p className="flex flex-wrap items-baseline gap-x-6 gap-y-1">
      <a href={listHref({ projectId: id })} className="link target">
        {formatQuantity(sessions, "session")}
      </a>
      {sessionsPutAway > 0 && (
        <span className="text-muted" title="Not in the list">
          {formatCount(sessionsPutAway)} of them archived or without content
        </span>
      )}
      {costNano > 0 && <span className="font-semibold">{formatMoney(costNano)}</span>}
      {tokens > 0 && <Figure count={tokens} unit="tokens" />}
      {usage.unpricedTokens > 0 && (
        <span className="text-warn">{formatCount(usage.unpricedTokens)} tokens have no price</span>
      )}
      {describeTier(usage.tierNotPricedTokens).map((remark) => (
        <span key={remark} className="text-muted">
          {remark}
        </span>
      ))}
      {lastActiveAt && (
        <span className="text-muted">
          last active <Time at={lastActiveAt} as="ago" />
        </span>
      )}
      <span className="text-muted">{agents.join(", ")}</span>
    </p>
  );
}

const maxSessions = 8;

async function Sessions({ project: { id, sessions, sessionsPutAway } }: { project: ProjectDetails }) {
  const listed = sessions - sessionsPutAway;
  if (listed === 0) return null;
  const user = await requireUser(`/projects/${id}`);
  const filter = { projectId: id, archived: false, trivial: false };
  const { traces } = await listTraces(user.id, filter, { limit: maxSessions });
  return (
    <Section id="sessions" title="Latest sessions">
      <ul aria-label="Latest sessions" className="border-hairline border-t">
        {traces.map((trace) => (
          <li
            key={trace.id}
            className="grid grid-cols-[auto_minmax(0,1fr)_auto] items-center gap-3 border-hairline border-b py-1.5"
          >
            <Monogram source={trace.source} />
            <a href={traceHref(trace.id, { projectId: id })} className="quiet-link target block truncate">
              {trace.shortTitle || "Untitled session"}
            </a>
            <span className="flex gap-4 text-code text-muted">
              {trace.costNano > 0 && <span className="max-sm:hidden">{formatMoney(trace.costNano)}</span>}
              <ActivityTime of={trace} />
            </span>
          </li>
        ))}
      </ul>
      <p>
        <a href={listHref({ projectId: id })} className="link target">
          {listed === 1 ? "Show it in the list" : `All ${formatQuantity(listed, "session")}`}
        </a>
      </p>
    </Section>
  );
}
