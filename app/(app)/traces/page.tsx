import type { Metadata } from "next";
import { after } from "next/server";
import { requireUser } from "#lib/auth/guards";
import { answerOverloaded } from "#lib/core/current-request";
import { isOverload, SpoorError } from "#lib/core/errors";
import { labelText, readLabels } from "#lib/projects/queries";
import { type Excerpts, readExcerpts } from "#lib/search/excerpts";
import { countPending } from "#lib/search/index/find-documents";
import { isRanked, parseQuery } from "#lib/search/query";
import type { Selection as Selected } from "#lib/search/sql/selection";
import { readTraceBranches, withPullRequests } from "#lib/traces/evidence";
import { countTraces } from "#lib/traces/facets";
import { type ListedTrace, listPage } from "#lib/traces/queries";
import { readViews } from "#lib/traces/views";
import { readStandings } from "../../../lib/traces/standing";
import { Notice } from "../../components/notice";
import { Pager } from "../../components/pager";
import type { SearchParams } from "../../components/shell/pages";
import { readerZone } from "../../components/shell/preferences";
import { Time } from "../../components/values/time";
import { Words } from "../../docs/entry";
import { warmUp } from "./[id]/drawing/draw";
import { Connect } from "./connect";
import { Chips } from "./filters/chips";
import { FilterBar } from "./filters/filter-bar";
import { exportHref, type ListRequest, listed, readListParams, shown } from "./filters/filters";
import { OrderSwitch, SortMenu, ViewMenu } from "./filters/sort-menu";
import { deleteAllHref, filterQuery, getFilterValues, listHref, toSearchParams } from "./hrefs";
import { readKin } from "./list/families";
import { ListKeys } from "./list/list-keys";
import { Newer } from "./list/newer";
import { Selection } from "./list/selection";
import { TraceList } from "./list/trace-list";
import { formatSessionCount, maxCounted, maxFound, NoHits } from "./search/no-hits";
import { SearchBox } from "./search/search-field";
import { Instead, Lag } from "./search/search-notices";

export const metadata: Metadata = { title: "Sessions" };

export default async function Page({ searchParams }: PageProps<"/traces">) {
  const params = await searchParams;
  const request = readListParams(params, await readerZone());
  const { given, cursor, filter, order, sort } = request;
  const user = await requireUser(listHref(given));
  if (request.problem) return <WrongSearch userId={user.id} request={request} typed={params.q} />;
  const max = given.q ? maxFound : maxCounted;
  const selection = listed(filter);
  const folded = selection.families === true;
  const projects = getFilterValues(given, "projectId");
  const reading = Promise.all([
    readPage(user.id, request, max + 1).then((page) => readAround(user.id, page, { given, folded, projects })),
    order === "best" ? undefined : countTraces(user.id, selection, max + 1),
    folded ? countTraces(user.id, shown(filter), max + 1) : undefined,
    given.q ? countPending(user.id) : 0,
    given.parent ? findTitle(user.id, given.parent) : undefined,
    folded && !cursor ? countTraces(user.id, { trivial: true, archived: false }, maxCounted) : 0,
    readViews(user.id),
  ]);
  const read = await reading.catch((error) => {
    if (!given.q || !isOverload(error)) throw error;
  });
  if (!read) return <TooLong userId={user.id} given={given} />;
  const [page, counted, withChildren, lag, parent, trivial, views] = read;
  const { traces, nextCursor, ignored, ranking, excerpts, kin, branches, standings, labels } = page;
  const count = counted ?? ranking?.count ?? 0;
  const all = withChildren ?? count;
  const isFiltered = Object.keys(given).length > 0;
  const isEmpty = traces.length === 0 && !isFiltered && !cursor;
  if (isEmpty && ignored.length === 0 && (await countTraces(user.id, {}, 1)) === 0) return <Connect />;
  const names = new Map([...labels].map(([id, label]) => [id, labelText(label)]));
  const [first] = traces;
  after(warmUp);
  return (
    <>
      <h1 className="sr-only">Sessions</h1>
      <Notices ignored={ignored} problem={request.problem} deleted={params.deleted} />
      <div className="flex flex-wrap items-start gap-2">
        <SearchBox userId={user.id} given={given} order={order} />
        <FilterBar userId={user.id} filter={shown(filter)} given={given} hasValues={params.menus === "1"}>
          {!given.q && <SortMenu given={given} sort={sort} />}
          <ViewMenu given={given} sort={sort} views={views} />
        </FilterBar>
      </div>
      <Lag sessions={lag} />
      <form method="get" action="/traces/delete" id="selection">
        <input type="hidden" name="list" value={toSearchParams(given).toString()} />
        <Selection
          key={`${listHref(given, { order, sort })} ${cursor}`} // it counts the boxes of its own page
          shown={traces.length}
          total={formatSessionCount(all, max)}
          exportHref={exportHref(filter)}
          deleteHref={deleteAllHref(given)}
        >
          <ul className="flex min-w-0 flex-wrap items-center gap-2">
            <li className="whitespace-nowrap">
              {formatSessionCount(count, max)}
              {all > count && <InAll sessions={formatSessionCount(all, max)} />}
            </li>
            <Chips given={given} names={names} parent={parent} />
            {given.q && isRanked(given.q) && <OrderSwitch given={given} order={order} />}
            {first && !cursor && order === "newest" && sort === "activity" && (
              <li>
                <Newer query={changesQuery(selection, first)} href={listHref(given)} />
              </li>
            )}
          </ul>
        </Selection>
        {traces.length > 0 && <Instead given={given} {...ranking} />}
        {traces.length > 0 && (
          <TraceList
            traces={traces}
            given={searchedFor(given, ranking)}
            sort={order === "best" ? undefined : sort}
            kin={kin}
            excerpts={excerpts}
            labels={labels}
            branches={branches}
            standings={standings}
          />
        )}
      </form>
      {traces.length === 0 && isFiltered && <NoHits userId={user.id} request={request} names={names} />}
      {traces.length === 0 && !isFiltered && (
        <p className="py-8 text-muted">{isEmpty ? "All sessions are archived or empty." : "Nothing older."}</p>
      )}
      {trivial > 0 && <WithoutContent count={trivial} />}
      <Pages request={request} nextCursor={nextCursor} />
      <ListKeys />
    </>
  );
}

type Around = { given: ListRequest["given"]; folded: boolean; projects: string[] };

async function readAround<Page extends FoundTraces>(userId: string, page: Page, { given, folded, projects }: Around) {
  const [{ traces }, excerpts, kin, branches, standings, labels] = await Promise.all([
    withPullRequests(userId, page),
    readListExcerpts(userId, page, searchedFor(given, page.ranking)),
    readKin(userId, page.traces, { folds: folded || Boolean(given.parent), isOfRoots: folded }),
    readTraceBranches(userId, page.traces),
    readStandings(userId, page.traces),
    readLabels(userId, [...page.traces.map(({ projectId }) => projectId), ...projects]),
  ]);
  return { ...page, traces, excerpts, kin, branches, standings, labels };
}

function WithoutContent({ count }: { count: number }) {
  return (
    <p className="py-3 text-code text-muted">
      <a href={listHref({ trivial: "true" })} className="quiet-link">
        {`${count} without content`}
      </a>
      : only commands of the agent's program, or nothing at all.
    </p>
  );
}

type PagesProps = { request: ListRequest; nextCursor: string | null };

function Pages({ request: { given, cursor, order, sort }, nextCursor }: PagesProps) {
  const kept = { order, ...(sort !== "activity" && { sort }) };
  const isByMatch = order === "best";
  const isByTime = !isByMatch && sort === "activity";
  return (
    <Pager
      first={cursor && [isByTime ? "Newest" : isByMatch ? "Best" : "First", listHref(given, kept)]}
      next={
        nextCursor && [
          isByTime ? "Older" : isByMatch ? "More" : "Next",
          listHref(given, { ...kept, cursor: nextCursor }),
        ]
      }
    >
      <span className="ml-auto text-meta text-muted">
        As of <Time at={new Date().toISOString()} as="moment" />
      </span>
    </Pager>
  );
}

function InAll({ sessions }: { sessions: string }) {
  return (
    <span className="text-muted" title="Including forks and continued sessions">
      {" "}
      ({sessions.replace(/ sessions?$/, "")} with sub-agents)
    </span>
  );
}

async function findTitle(userId: string, traceId: string): Promise<string | undefined> {
  const [trace] = (await listPage(userId, { ids: [traceId] }, { limit: 1 })).traces;
  return trace && (trace.shortTitle || "Untitled session");
}

type WrongProps = { userId: string; request: ListRequest; typed: SearchParams[string] };

/** All sessions would look like an answer. */
function WrongSearch({ userId, request: { given, ignored, problem, order }, typed }: WrongProps) {
  return (
    <>
      <h1 className="sr-only">Sessions</h1>
      <Notices ignored={ignored} problem={problem} deleted={undefined} />
      <SearchBox userId={userId} given={{ ...given, q: [typed ?? ""].flat()[0] ?? "" }} order={order} />
      <p className="py-8">
        <a href={listHref(given)} className="link">
          {Object.keys(given).length > 0 ? "Leave out the search" : "Show all sessions"}
        </a>
      </p>
    </>
  );
}

function TooLong({ userId, given }: { userId: string; given: ListRequest["given"] }) {
  answerOverloaded();
  return (
    <div className="flex flex-col items-start gap-4">
      <h1 className="sr-only">Sessions</h1>
      <SearchBox userId={userId} given={given} order="best" />
      <Notice tone="warn">
        <p>
          This search took too long and was stopped. Try again when your other searches and exports have ended, or
          search for rarer words.
        </p>
      </Notice>
    </div>
  );
}

function changesQuery({ families, ...filter }: Selected, { id, latestAt }: ListedTrace): string {
  const query = filterQuery(filter);
  if (families) query.set("roots", "true");
  query.set("id", id);
  query.set("updatedAt", latestAt);
  return query.toString();
}

type NoticesProps = { ignored: string[]; problem: string | undefined; deleted: string | string[] | undefined };

function Notices({ ignored, problem, deleted }: NoticesProps) {
  const others = problem ? ignored.filter((name) => name !== "q") : ignored;
  const count = typeof deleted === "string" && /^\d{1,9}$/.test(deleted) ? Number(deleted) : undefined;
  return (
    <div role="status" className="flex flex-col gap-2 not-empty:pb-4">
      {count !== undefined && (
        <Notice tone="info">
          <p>
            {count} {count === 1 ? "session was" : "sessions were"} deleted.
          </p>
        </Notice>
      )}
      {ignored.length > 0 && (
        <Notice tone="warn">
          <p>
            {others.length > 0 &&
              `Ignored invalid ${others.length === 1 ? "filter" : "filters"}: ${others.join(", ")}. `}
            {problem && <Words text={`The search ${problem}.`} />}
          </p>
        </Notice>
      )}
    </div>
  );
}

async function readPage(
  userId: string,
  { filter, cursor, limit, order, sort, ignored }: ListRequest,
  countUpTo: number,
) {
  try {
    const page = await listPage(userId, listed(filter), { cursor, limit, order, sort, countUpTo });
    return { ...page, ignored };
  } catch (error) {
    if (!(error instanceof SpoorError && error.code === "invalid_request")) throw error;
    const page = await listPage(userId, listed(filter), { limit, order, sort, countUpTo });
    return { ...page, ignored: [...ignored, "cursor"] };
  }
}

/** Includes corrected words, so that results lead to their matches. */
const searchedFor = (given: ListRequest["given"], ranking?: { corrected?: string }): ListRequest["given"] =>
  ranking?.corrected ? { ...given, q: ranking.corrected } : given;

type FoundTraces = {
  traces: ListedTrace[];
  ranking?: { found: Map<string, Excerpts>; read: Set<string>; corrected?: string };
};

async function readListExcerpts(userId: string, { traces, ranking }: FoundTraces, { q }: ListRequest["given"]) {
  if (!q) return undefined;
  const known = ranking?.found ?? new Map<string, Excerpts>();
  const ids = traces.map(({ id }) => id).filter((id) => !ranking?.read.has(id));
  return new Map([...known, ...(await readExcerpts(userId, ids, parseQuery(q)))]);
}
