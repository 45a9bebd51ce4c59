import type { Metadata } from "next";
import { z } from "zod";
import { requireUser } from "#lib/auth/guards";
import { env } from "#lib/core/env";
import { labelText, readLabels } from "#lib/projects/queries";
import { chosenIds, type FilterName } from "#lib/search/schema";
import { countSelection } from "#lib/traces/deletion";
import { findSubagents } from "#lib/traces/family";
import { listTraces, type Trace } from "#lib/traces/queries";
import { Notice } from "../../../components/notice";
import type { SearchParams } from "../../../components/shell/pages";
import { readerZone } from "../../../components/shell/preferences";
import { formatQuantity } from "../../../components/values/figures";
import { ActivityTime, Time } from "../../../components/values/time";
import { type ListRequest, readListParams, shown } from "../filters/filters";
import {
  type FilterTitles,
  type GivenFilters,
  getFilterLabel,
  getFilterValues,
  listHref,
  paramsIn,
  shownValues,
} from "../hrefs";
import { deleteSelectionAction } from "./actions";

export const metadata: Metadata = { title: "Delete sessions" };

const maxTitles = 10;

export default async function Page({ searchParams }: PageProps<"/traces/delete">) {
  const params = await searchParams;
  const request = readListParams(listParams(params), await readerZone());
  const asked = parseSelection(params, request);
  const user = await requireUser("/traces");
  const back = listHref(request.given);
  if (!asked) return <Nothing back={back} />;
  const below = asked.ids ? await findSubagents(user.id, asked.ids) : [];
  const [{ traces, messages, mark, countedAt }, named, withBelow] = await Promise.all([
    countSelection(user.id, asked),
    listTraces(user.id, asked, { limit: maxTitles }),
    below.length > 0 ? countSelection(user.id, { ids: [...(asked.ids ?? []), ...below] }) : undefined,
  ]);
  if (traces === 0) return <Nothing back={back} />;
  const storedUntil = asked.ids ? undefined : countedAt;
  return (
    <div className="flex max-w-[72ch] flex-col gap-4">
      <h1 className="font-semibold text-title">
        {traces === 1 ? "Delete this session?" : `Delete these ${formatQuantity(traces, "session")}?`}
      </h1>
      {params.changed === "1" && (
        <Notice tone="warn">
          <p>Nothing was deleted: some sessions have changed. Here is the new count.</p>
        </Notice>
      )}
      {!asked.ids && (
        <Scope
          given={request.given}
          countedAt={countedAt}
          names={await projectNames(user.id, request)}
          left={leftOut(request.filter)}
        />
      )}
      <Titles traces={named.traces} more={traces - named.traces.length} />
      <p>
        This also deletes {formatQuantity(messages, "message")}, permanently. {traces === 1 ? "It" : "They"} won’t be
        uploaded again. Raw uploads are deleted {formatQuantity(env().UPLOAD_RETENTION_DAYS, "day")} after processing.
      </p>
      <form action={deleteSelectionAction} className="flex flex-wrap items-center gap-4">
        <Hidden name="selection" value={JSON.stringify({ ...asked, storedUntil })} />
        <Hidden name="given" value={JSON.stringify(request.given)} />
        <Hidden name="mark" value={mark} />
        {withBelow && <Below sessions={below.length} messages={withBelow.messages - messages} mark={withBelow.mark} />}
        <button type="submit" className="button button-bad">
          Delete
        </button>
        <a href={back} className="link">
          Cancel
        </a>
      </form>
    </div>
  );
}

function Below({ sessions, messages, mark }: { sessions: number; messages: number; mark: string }) {
  return (
    <label className="flex basis-full items-start gap-2">
      <input type="checkbox" name="below" value={mark} defaultChecked className="mt-1 size-4 accent-accent" />
      <span>
        Delete {formatQuantity(sessions, "sub-agent")} that {sessions === 1 ? "is" : "are"} not chosen with{" "}
        {formatQuantity(messages, "message")}, too. Otherwise{" "}
        {sessions === 1 ? "it stays, on its own" : "they stay, on their own"}.
      </span>
    </label>
  );
}

const Hidden = (input: { name: string; value: string }) => <input type="hidden" {...input} />;

/** The list's form sends its parameters in one field (`list`). */
const listParams = ({ list, ...params }: SearchParams): SearchParams =>
  typeof list === "string" ? paramsIn(list) : params;

function parseSelection(params: SearchParams, { filter, ignored }: ListRequest) {
  const ids = chosenIds.safeParse(z.array(z.string()).parse([params.id ?? []].flat()));
  if (!ids.success) return undefined;
  if (ids.data.length > 0) return { ids: ids.data };
  // An invalid filter must not widen the selection, and hidden sessions are not deleted.
  return params.all === "1" && ignored.length === 0 ? { ...shown(filter), ids: undefined } : undefined;
}

function Nothing({ back }: { back: string }) {
  return (
    <div className="flex flex-col gap-3">
      <h1 className="font-semibold text-title">Nothing to delete</h1>
      <p className="text-muted">No session is selected, or all of them are already deleted.</p>
      <p>
        <a href={back} className="link">
          Back to the list
        </a>
      </p>
    </div>
  );
}

async function projectNames(userId: string, { given }: ListRequest): Promise<FilterTitles> {
  const labels = await readLabels(userId, getFilterValues(given, "projectId"));
  return new Map([...labels].map(([id, label]) => [id, labelText(label)]));
}

function leftOut(filter: ListRequest["filter"]): string {
  const { archived, trivial } = shown(filter);
  return [archived === false && "archived ones", trivial === false && "those without content"]
    .filter(Boolean)
    .join(" and ");
}

type ScopeProps = { given: GivenFilters; countedAt: string; names: FilterTitles; left: string };

function Scope({ given, countedAt, names, left }: ScopeProps) {
  const filters = Object.keys(given) as FilterName[];
  return (
    <p>
      {filters.length === 0 ? (
        <strong className="font-semibold">All of your sessions</strong>
      ) : (
        <>
          All with{" "}
          {filters.map((name, index) => (
            <span key={name}>
              {index > 0 && ", "}
              {getFilterLabel(name)}{" "}
              <strong className="break-words font-semibold">{shownValues(given, name, names)}</strong>
            </span>
          ))}
        </>
      )}
      {left && ` but ${left}`}, as of <Time at={countedAt} as="long" />. Later sessions are kept.
    </p>
  );
}

function Titles({ traces, more }: { traces: Trace[]; more: number }) {
  return (
    <ul className="list-disc pl-5">
      {traces.map(({ id, shortTitle, messageCount, ...trace }) => (
        <li key={id} className="[overflow-wrap:anywhere]">
          <span className="font-medium">{shortTitle || "Untitled session"}</span>{" "}
          <span className="text-code text-muted">
            {formatQuantity(messageCount, "message")}, <ActivityTime of={trace} as="moment" />
          </span>
        </li>
      ))}
      {more > 0 && <li className="text-muted">and {formatQuantity(more, "more", "more")}</li>}
    </ul>
  );
}
