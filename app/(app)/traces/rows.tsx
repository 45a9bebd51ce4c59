"use client";
import type { Excerpts } from "#lib/search/excerpts";
import { monogramOf } from "../../components/monogram";
import { type Below, BelowFold } from "./below";
import { ExcerptList } from "./excerpts";
import { type Given, listHref, traceHref } from "./hrefs";

/** What a row shows, as text. */
export type Row = {
  id: string;
  source: string;
  title?: string;
  project?: string;
  /** Where it is known as one. */
  projectId?: string;
  model?: string;
  /** The pull request that it opened or is linked to. */
  pull?: { href: string; label: string; title: string };
  messages: string;
  cost?: string;
  tokens?: string;
  /** The last activity as ISO 8601, and as shown. */
  at: string;
  when: string;
  /** The exact figures and time. */
  exact: string;
  found?: Excerpts;
  /** What it started, and the exact figures with all of that. */
  below?: Below;
  withBelow?: string;
  /** What it came from, where it is not shown below that. */
  origin?: { words: string; title: string; href: string };
};

type Props = { rows: Row[]; given: Given };

/**
 * The rows of the list. A client component although nothing in it is interactive: a server component is sent twice, as HTML and as
 * React's description of it. Of this one only the text is: 1.2 KB a row instead of 6.
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
  const {
    id,
    source,
    title,
    project,
    projectId,
    model,
    messages,
    cost,
    tokens,
    at,
    when,
    exact,
    found,
    below,
    withBelow,
    origin,
    pull,
  } = row;
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
        {project && projectId && (
          <a href={`/projects/${projectId}`} title={`Project ${project}`} className="quiet-link project">
            {project}
          </a>
        )}
        {project && !projectId && <Facet name="project" value={project} given={given} />}
        {model && <Facet name="model" value={model} given={given} />}
        {pull && (
          <a href={pull.href} title={pull.title} className="pull">
            {pull.label}
          </a>
        )}
        <span className="messages">
          {`${messages} `}
          <i>msg</i>
        </span>
        {cost && <span className="cost">{cost}</span>}
        {tokens && (
          <span className="tokens">
            {`${tokens} `}
            <i>tokens</i>
          </span>
        )}
        <time dateTime={at}>{when}</time>
      </div>
      <p id={`x${place}`}>
        {exact}
        {withBelow && (
          <>
            <br />
            {withBelow}
          </>
        )}
      </p>
      {origin && (
        <span className="origin">
          {origin.words}{" "}
          <a href={origin.href} className="quiet-link">
            {origin.title}
          </a>
        </span>
      )}
      {below && <BelowFold id={id} below={below} />}
      {found && given.q && <ExcerptList traceId={id} q={given.q} found={found} />}
    </li>
  );
}

type FacetProps = { name: "model" | "project"; value: string; given: Given };

/** A value that, clicked, narrows the list to sessions with the same one. */
function Facet({ name, value, given }: FacetProps) {
  return (
    <a href={listHref({ ...given, [name]: value })} title={`Only ${name} ${value}`} className={`quiet-link ${name}`}>
      {value}
    </a>
  );
}
