import type { Metadata } from "next";
import { requireUser } from "#lib/auth/guards";
import { listFindings, summarizeFindings } from "#lib/findings/findings";
import { type FindingsQuery, type FoundSecret, findingState } from "#lib/findings/schema";
import { Form } from "../../components/forms/form";
import { Notice } from "../../components/notice";
import { Pager, readByCursor } from "../../components/pager";
import { formatQuantity } from "../../components/values/figures";
import { Time } from "../../components/values/time";
import { beginMaskingAction, maskAllAction } from "./actions";
import { ages, findingsHref, readParams, stateNames } from "./params";
import { FindingRow } from "./row";
import { StopQuestion } from "./stop-question";

export const metadata: Metadata = { title: "Secrets" };

type Summary = Awaited<ReturnType<typeof summarizeFindings>>;

export default async function Page({ searchParams }: PageProps<"/findings">) {
  const user = await requireUser("/findings");
  const params = await searchParams;
  const query = readParams(params);
  const [summary, page] = await Promise.all([
    summarizeFindings(user.id),
    readByCursor(query, (asked) => listFindings(user.id, asked)),
  ]);
  return (
    <div className="flex flex-col gap-5">
      <h1 className="font-semibold text-title">Secrets in sessions</h1>
      <p className="max-w-[72ch] text-muted">
        Keys, tokens and passwords in your sessions. Spoor stores a fingerprint, never the value. Rotate anything that
        leaked, even if it is masked.
      </p>
      <Masking summary={summary} query={query} />
      {params.stop === "1" && summary.masks && (
        <StopQuestion userId={user.id} project={projectIn(query, page.findings)} />
      )}
      <Progress summary={summary} />
      <Filters query={query} summary={summary} />
      <Narrowed query={query} first={page.findings[0]} />
      {page.findings.length > 0 ? (
        <ul aria-label="Secrets" className="border-hairline border-t">
          {page.findings.map((finding) => (
            <FindingRow key={`${finding.kind} ${finding.mark} ${finding.traceId} ${finding.state}`} finding={finding} />
          ))}
        </ul>
      ) : (
        <p className="py-6 text-muted">
          {summary.counts.length === 0 ? "No secrets found." : "No secrets match these filters."}
        </p>
      )}
      <Pager
        first={query.cursor && ["First", findingsHref({ ...query, cursor: undefined })]}
        next={page.nextCursor && ["More", findingsHref({ ...query, cursor: page.nextCursor })]}
      />
    </div>
  );
}

function projectIn({ project }: FindingsQuery, [first]: FoundSecret[]) {
  return project && first?.projectId === project && first.project ? { id: project, name: first.project } : undefined;
}

/** The button only opens a question, so it sends a GET. */
function Masking({ summary: { masks, until, stopped }, query }: { summary: Summary; query: FindingsQuery }) {
  return (
    <div className="flex flex-col gap-2 border-hairline border-y py-3">
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2">
        <p className="max-w-[60ch]">
          {masks ? (
            "Definite secrets are masked on upload. Possible ones wait for your review."
          ) : (
            <>Nothing is masked{until && <Until at={until} />}. Secrets are stored unmasked and listed here.</>
          )}
        </p>
        {masks ? (
          <form method="get" action="/findings">
            {query.project && <input type="hidden" name="project" value={query.project} />}
            <button type="submit" name="stop" value="1" className="button">
              Stop masking
            </button>
          </form>
        ) : (
          <Form action={beginMaskingAction} submit="Mask secrets" />
        )}
      </div>
      {masks &&
        stopped.map(({ id, name, masksAgainAt }) => (
          <div key={id} className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2">
            <p className="text-warn" id={`stopped-${id}`}>
              Nothing is masked in <bdi>{name}</bdi>
              {masksAgainAt && <Until at={masksAgainAt} />}.
            </p>
            <Form
              action={beginMaskingAction}
              hidden={{ project: id }}
              submit="Mask again"
              describedBy={`stopped-${id}`}
            />
          </div>
        ))}
    </div>
  );
}

const Until = ({ at }: { at: Date }) => (
  <>
    {" "}
    until <Time at={at.toISOString()} as="moment" />
  </>
);

function Progress({ summary: { unmasked, masking, unread } }: { summary: Summary }) {
  const secrets = unmasked.certain;
  return (
    <>
      {(masking > 0 || unread > 0) && (
        <p role="status" className="text-code text-muted">
          {masking > 0 && <>{formatQuantity(masking, "session")} being masked. </>}
          {unread > 0 && <>{formatQuantity(unread, "session")} still to be searched.</>}
        </p>
      )}
      {secrets > 0 && (
        <Notice tone="warn">
          <div className="flex flex-col gap-3">
            <p>
              {formatQuantity(secrets, "definite secret")} {secrets === 1 ? "is" : "are"} stored unmasked.
            </p>
            <Form
              action={maskAllAction}
              submit="Mask all of them"
              question="Mask all of them in all sessions? This can’t be undone, and removes their uploads."
            />
          </div>
        </Notice>
      )}
    </>
  );
}

function Filters({ query, summary: { counts } }: { query: FindingsQuery; summary: Summary }) {
  const kinds = [...new Map(counts.map(({ kind, name }) => [kind, name]))].sort(([, a], [, b]) => (a < b ? -1 : 1));
  const of = { kind: query.kind, days: query.days, trace: query.trace, project: query.project, mark: query.mark };
  return (
    <div className="flex flex-wrap items-center gap-x-6 gap-y-2">
      <nav aria-label="States" className="flex flex-wrap gap-x-4 gap-y-1 text-code">
        <FilterLink href={findingsHref(of)} isHere={query.state === undefined}>
          All
        </FilterLink>
        {findingState.options.map((state) => (
          <FilterLink key={state} href={findingsHref({ ...of, state })} isHere={query.state === state}>
            {stateNames[state]}
          </FilterLink>
        ))}
      </nav>
      <form method="get" action="/findings" className="flex flex-wrap gap-2">
        {Object.entries({ state: query.state, trace: query.trace, project: query.project, mark: query.mark }).map(
          ([name, value]) => value && <input key={name} type="hidden" name={name} value={value} />,
        )}
        <select name="kind" aria-label="Kind" defaultValue={query.kind ?? ""} className="input w-auto max-w-52">
          <option value="">all kinds</option>
          {kinds.map(([kind, name]) => (
            <option key={kind} value={kind}>
              {name}
            </option>
          ))}
        </select>
        <select name="days" aria-label="Age" defaultValue={query.days ?? ""} className="input w-auto">
          <option value="">of any age</option>
          {Object.entries(ages).map(([days, name]) => (
            <option key={days} value={days}>
              {name}
            </option>
          ))}
        </select>
        <button type="submit" className="button">
          Show
        </button>
      </form>
    </div>
  );
}

function Narrowed({ query, first }: { query: FindingsQuery; first: FoundSecret | undefined }) {
  const { trace, project, mark, cursor: _, ...others } = query;
  if (!trace && !project && !mark) return null;
  const of = [
    mark && `the secret ${mark}`,
    trace && `the session ${first?.title ? `“${first.title}”` : "you came from"}`,
    project && `the project ${first?.project ?? "you came from"}`,
  ].filter(Boolean);
  return (
    <p className="text-code text-muted [overflow-wrap:anywhere]">
      Only {of.join(", ")}.{" "}
      <a href={findingsHref(others)} className="link">
        Show all
      </a>
    </p>
  );
}

function FilterLink({ href, isHere, children }: { href: string; isHere: boolean; children: React.ReactNode }) {
  return (
    <a
      href={href}
      aria-current={isHere ? "true" : undefined}
      className="quiet-link target aria-[current]:font-semibold"
    >
      {children}
    </a>
  );
}
