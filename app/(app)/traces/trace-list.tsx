import type { Excerpts } from "#lib/search/text";
import type { Trace } from "#lib/traces/queries";
import { countOf, Figure } from "../../components/figures";
import { Monogram } from "../../components/mark";
import { longTime, Time } from "../../components/time";
import { readerZone } from "../../components/zone";
import { ExcerptList } from "./excerpts";
import { type Given, listHref, traceHref } from "./filters";

type Props = { traces: Trace[]; given: Given; excerpts?: Map<string, Excerpts> | undefined };

/** The sessions of a page, each with a box to tick. */
export async function TraceList({ traces, given, excerpts }: Props) {
  const zone = await readerZone();
  return (
    <ul aria-label="Sessions" data-rows className="border-hairline border-t">
      {traces.map((trace) => (
        <Row key={trace.id} trace={trace} given={given} zone={zone} found={excerpts?.get(trace.id)} />
      ))}
    </ul>
  );
}

type RowProps = { trace: Trace; given: Given; zone: string; found: Excerpts | undefined };

function Row({ trace, given, zone, found }: RowProps) {
  const { id, source, model, project, messageCount, tokenCount, updatedAt } = trace;
  return (
    <li className="group relative flex flex-wrap items-start gap-2 border-hairline border-b py-1.5 hover:bg-block has-checked:bg-tint sm:min-h-10 sm:items-center sm:py-1">
      <label className="grid size-6 shrink-0 place-items-center pointer-coarse:size-11 pointer-coarse:max-sm:-my-2 pointer-coarse:max-sm:-ml-3">
        <input type="checkbox" name="id" value={id} className="size-4 accent-accent" aria-labelledby={`title-${id}`} />
      </label>
      <span title={source}>
        <Monogram source={source} />
        <span className="sr-only">{source}: </span>
      </span>
      <div className="flex min-w-0 grow basis-0 flex-col sm:flex-row sm:items-center sm:gap-4">
        <a
          id={`title-${id}`}
          data-row
          href={traceHref(id, given)}
          aria-describedby={`facts-${id}`}
          className="quiet-link min-w-0 font-medium max-sm:line-clamp-2 sm:grow sm:truncate"
        >
          {trace.title || <span className="text-muted">Untitled session</span>}
        </a>
        <div className="flex min-w-0 gap-x-3 text-code sm:shrink-0 sm:gap-x-4">
          <span className="min-w-0 max-sm:contents sm:w-36 sm:truncate">
            {project && <Facet name="project" value={project} given={given} />}
          </span>
          <span className="min-w-0 max-lg:hidden lg:w-44 lg:truncate">
            {model && <Facet name="model" value={model} given={given} />}
          </span>
          <span className="shrink-0 sm:w-20 sm:text-right">
            <Figure count={messageCount} unit="msg" />
          </span>
          <span className="shrink-0 sm:w-24 sm:text-right">
            {tokenCount > 0 && <Figure count={tokenCount} unit="tokens" />}
          </span>
          <span className="shrink-0 text-muted max-sm:ml-auto sm:w-20 sm:text-right">
            <Time at={updatedAt} />
          </span>
        </div>
      </div>
      <p
        id={`facts-${id}`}
        className="pointer-events-none absolute top-full right-0 z-10 hidden rounded-control border border-hairline bg-overlay px-2 py-1 text-meta shadow-lg group-has-[[data-row]:focus-visible]:block"
      >
        {countOf(messageCount, "message")}
        {tokenCount > 0 && ` · ${countOf(tokenCount, "token")}`} · {longTime(new Date(updatedAt), zone)}
      </p>
      {found && given.q && <ExcerptList traceId={id} q={given.q} found={found} />}
    </li>
  );
}

type FacetProps = { name: "model" | "project"; value: string; given: Given };

/** A value of a session that narrows the list to its like. */
function Facet({ name, value, given }: FacetProps) {
  return (
    <a
      href={listHref({ ...given, [name]: value })}
      title={`Only ${name} ${value}`}
      className="quiet-link truncate text-muted"
    >
      {value}
    </a>
  );
}
