import type { Metadata } from "next";
import { requireUser } from "#lib/auth/guards";
import { usedTokens } from "#lib/core/fields";
import { listProjects, type ProjectSummary } from "#lib/projects/queries";
import { type ProjectSort, type ProjectsQuery, projectSorts, projectsQuery } from "#lib/projects/schema";
import { countDueTraces } from "#lib/usage/queries";
import { Pager, readByCursor } from "../../components/pager";
import type { SearchParams } from "../../components/shell/pages";
import { Monogram } from "../../components/values/agent-icon";
import { Counting, notYet } from "../../components/values/counting";
import { Figure, formatQuantity } from "../../components/values/figures";
import { formatMoney } from "../../components/values/money";
import { Time } from "../../components/values/time";

export const metadata: Metadata = { title: "Projects" };

const sortNames: Record<ProjectSort, string> = {
  active: "Last active",
  name: "Name",
  sessions: "Sessions",
  cost: "Cost",
};

export default async function Page({ searchParams }: PageProps<"/projects">) {
  const user = await requireUser("/projects");
  const query = readParams(await searchParams);
  const [{ projects, nextCursor }, due] = await Promise.all([
    readByCursor(query, (asked) => listProjects(user.id, asked)),
    countDueTraces(user.id),
  ]);
  const isPlain = !query.q && !query.cursor;
  const isEmpty = projects.length === 0 && isPlain;
  return (
    <div className="flex flex-col gap-4">
      <h1 className="font-semibold text-title">Projects</h1>
      <Counting sessions={due} />
      {isEmpty ? (
        due === 0 && <Empty />
      ) : (
        <>
          <Controls query={query} isLong={!isPlain || nextCursor !== null} />
          {projects.length > 0 && (
            <ul aria-label="Projects" className="border-hairline border-t">
              {projects.map((project) => (
                <Row key={project.id} project={project} due={due} />
              ))}
            </ul>
          )}
          {projects.length === 0 && (
            <p className="py-8 text-muted">
              {query.q ? `No project's name contains “${query.q}”.` : "No further project."}
            </p>
          )}
          <Pager
            first={query.cursor && ["First", projectsHref(query)]}
            next={nextCursor && ["More", projectsHref(query, { cursor: nextCursor })]}
          />
        </>
      )}
    </div>
  );
}

/** Ignores invalid parameters, so that old links still show a list. */
function readParams(params: SearchParams): ProjectsQuery {
  const asked = Object.entries(params).filter(([name, value]) => value !== "" && isValid(name, value));
  return projectsQuery.parse(Object.fromEntries(asked));
}

const isValid = (name: string, value: unknown) => projectsQuery.safeParse({ [name]: value }).success;

function projectsHref({ q, sort }: ProjectsQuery, more: { sort?: ProjectSort; cursor?: string } = {}): string {
  const given = { ...(q && { q }), ...(sort !== "active" && { sort }), ...more };
  const text = new URLSearchParams(given).toString();
  return text ? `/projects?${text}` : "/projects";
}

function Empty() {
  return (
    <p className="max-w-[60ch] py-8 text-muted">
      No projects yet. They appear with the first sessions that have a Git repository, folder or project.{" "}
      <a href="/devices" className="link">
        Connect a machine
      </a>
    </p>
  );
}

function Controls({ query, isLong }: { query: ProjectsQuery; isLong: boolean }) {
  return (
    <div className="flex flex-wrap items-center gap-x-6 gap-y-2">
      {isLong && (
        <form method="get" action="/projects" className="flex gap-2 max-sm:w-full">
          {query.sort !== "active" && <input type="hidden" name="sort" value={query.sort} />}
          <input
            name="q"
            type="search"
            defaultValue={query.q}
            aria-label="Part of the name"
            placeholder="Part of the name"
            maxLength={512}
            className="input sm:w-60"
          />
          <button type="submit" className="button">
            Find
          </button>
        </form>
      )}
      <nav aria-label="Sort by" className="flex flex-wrap items-center gap-x-4 gap-y-1 text-code">
        <span className="text-muted">Sort by</span>
        {projectSorts.map((sort) => (
          <a
            key={sort}
            href={projectsHref(query, { sort })}
            aria-current={sort === query.sort ? "true" : undefined}
            className="quiet-link target aria-[current]:font-semibold"
          >
            {sortNames[sort]}
          </a>
        ))}
      </nav>
    </div>
  );
}

function Row({ project, due }: { project: ProjectSummary; due: number }) {
  const { id, name, distinction, sessions, sessionsPutAway, costNano, agents, lastActiveAt } = project;
  const putAway = sessionsPutAway > 0 ? `${sessionsPutAway} of them archived or without content` : undefined;
  const tokens = usedTokens(project.usage, 0);
  return (
    <li className="grid items-center gap-x-6 gap-y-0.5 border-hairline border-b py-2 sm:min-h-10 sm:grid-cols-[minmax(0,1fr)_auto]">
      <div className="flex min-w-0 items-center justify-between gap-3">
        <p className="min-w-0">
          <a href={`/projects/${id}`} className="quiet-link target font-medium [overflow-wrap:anywhere]">
            <bdi>{name}</bdi>
          </a>
          {distinction && <bdi className="block truncate font-mono text-code text-muted">{distinction}</bdi>}
        </p>
        <span className="flex shrink-0 gap-1" title={agents.join(", ")}>
          {agents.slice(0, 4).map((agent) => (
            <Monogram key={agent} source={agent} />
          ))}
          <span className="sr-only">{agents.join(", ")}</span>
        </span>
      </div>
      <p className="flex flex-wrap items-baseline gap-x-4 text-code text-muted sm:grid sm:grid-cols-[6.5rem_6.5rem_5.5rem_6rem] sm:text-right">
        <a href={`/traces?projectId=${id}`} className="quiet-link" title={putAway}>
          {sessions === 0 && due > 0 ? notYet(due) : formatQuantity(sessions, "session")}
        </a>
        <span>{tokens > 0 && <Figure count={tokens} unit="tokens" />}</span>
        <span className="text-text">{costNano > 0 && formatMoney(costNano)}</span>
        <span>{lastActiveAt && <Time at={lastActiveAt} />}</span>
      </p>
    </li>
  );
}
