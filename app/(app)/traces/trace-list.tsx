import type { Trace } from "#lib/traces/queries";
import { Figure } from "../../components/figures";
import { Monogram } from "../../components/mark";
import { Time } from "../../components/time";
import { type ListRequest, listHref } from "./filters";

type Given = ListRequest["given"];

export function TraceList({ traces, given }: { traces: Trace[]; given: Given }) {
  return (
    <ul className="border-hairline border-t">
      {traces.map((trace) => (
        <Row key={trace.id} trace={trace} given={given} />
      ))}
    </ul>
  );
}

function Row({ trace, given }: { trace: Trace; given: Given }) {
  const { source, model, project } = trace;
  return (
    <li className="flex items-center gap-3 border-hairline border-b py-1.5 hover:bg-block sm:min-h-10 sm:py-1">
      <Monogram source={source} />
      <div className="flex min-w-0 grow flex-col sm:flex-row sm:items-center sm:gap-4">
        <a href={`/traces/${trace.id}`} className="quiet-link min-w-0 truncate font-medium sm:grow">
          {trace.title || <span className="text-muted">Untitled session</span>}
        </a>
        <p className="flex min-w-0 flex-wrap gap-x-3 text-code sm:shrink-0 sm:flex-nowrap sm:justify-end">
          <Facet name="source" value={source} given={given} />
          {model && <Facet name="model" value={model} given={given} />}
          {project && <Facet name="project" value={project} given={given} />}
        </p>
        <p className="flex gap-x-3 text-code sm:w-64 sm:shrink-0 sm:justify-end">
          <Figure count={trace.messageCount} unit="msg" />
          <span className="sm:w-24 sm:text-right">
            {trace.tokenCount > 0 && <Figure count={trace.tokenCount} unit="tokens" />}
          </span>
          <span className="text-muted max-sm:ml-auto sm:w-14 sm:text-right">
            <Time at={trace.updatedAt} />
          </span>
        </p>
      </div>
    </li>
  );
}

type FacetProps = { name: "source" | "model" | "project"; value: string; given: Given };

/** A value of a session that narrows the list to its like. */
function Facet({ name, value, given }: FacetProps) {
  return (
    <a
      href={listHref({ ...given, [name]: value })}
      title={`Only ${name} ${value}`}
      className="quiet-link max-w-40 truncate text-muted"
    >
      {value}
    </a>
  );
}
