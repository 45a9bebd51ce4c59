"use client";
import type { Excerpts } from "#lib/search/text";
import { monogramOf } from "../../components/monogram";
import { ExcerptList } from "./excerpts";
import { type Given, listHref, traceHref } from "./hrefs";

/** What a row shows, in the words in which it shows it. */
export type Row = {
  id: string;
  source: string;
  title?: string;
  project?: string;
  model?: string;
  messages: string;
  tokens?: string;
  /** The moment of the last activity, as ISO 8601 and in words. */
  at: string;
  when: string;
  /** The figures and the moment once more, exactly. */
  exact: string;
  found?: Excerpts;
};

type Props = { rows: Row[]; given: Given };

/**
 * The rows of the list. They take part in nothing a browser does; they are here because what a server component renders is
 * sent twice, as HTML and as React's own description of it, and of this one only the words are: 1.2 KB a row, not 6.
 */
export function Rows({ rows, given }: Props) {
  return (
    <ul aria-label="Sessions" data-rows className="border-hairline border-t">
      {rows.map((row, place) => (
        <Session key={row.id} row={row} place={place} given={given} />
      ))}
    </ul>
  );
}

type SessionProps = { row: Row; place: number; given: Given };

function Session({ row, place, given }: SessionProps) {
  const { id, source, title, project, model, messages, tokens, at, when, exact, found } = row;
  return (
    <li className="session">
      <label className="tick">
        <input type="checkbox" name="id" value={id} aria-labelledby={`t${place}`} />
      </label>
      <span role="img" aria-label={source} title={source} className="monogram">
        {monogramOf(source)}
      </span>
      <a id={`t${place}`} data-row href={traceHref(id, given)} aria-describedby={`x${place}`} className="quiet-link">
        {title ?? <span className="text-muted">Untitled session</span>}
      </a>
      <div>
        {project && <Facet name="project" value={project} given={given} />}
        {model && <Facet name="model" value={model} given={given} />}
        <span className="messages">
          {`${messages} `}
          <i>msg</i>
        </span>
        {tokens && (
          <span className="tokens">
            {`${tokens} `}
            <i>tokens</i>
          </span>
        )}
        <time dateTime={at}>{when}</time>
      </div>
      <p id={`x${place}`}>{exact}</p>
      {found && given.q && <ExcerptList traceId={id} q={given.q} found={found} />}
    </li>
  );
}

type FacetProps = { name: "model" | "project"; value: string; given: Given };

/** A value of a session that narrows the list to its like. */
function Facet({ name, value, given }: FacetProps) {
  return (
    <a href={listHref({ ...given, [name]: value })} title={`Only ${name} ${value}`} className={`quiet-link ${name}`}>
      {value}
    </a>
  );
}
