"use client";
import { useState } from "react";
import type { Excerpts } from "#lib/search/excerpts";
import { getAgentColor } from "../../../components/values/agent-icon";
import { longTime } from "../../../components/values/date-format";
import { type GivenFilters, listHref, pullHref, traceHref } from "../hrefs";
import { type Below, BelowFold } from "./below";
import { ExcerptList } from "./excerpts";

export type ListRow = {
  id: string;
  source: string;
  /** Set if it differs from the agent's name. */
  icon?: string;
  monogram?: string;
  title?: string;
  /** The title that was cut. */
  whole?: string;
  star?: true;
  tags?: string[];
  live?: string;
  project?: string;
  projectId?: string;
  branch?: string;
  /** The model's family; the full name if it differs. */
  model?: string;
  exactModel?: string;
  machine?: string;
  /** The first pull request and the number of others. */
  pull?: [repository: string, number: number, more: number];
  errors?: string;
  added?: string;
  removed?: string;
  took?: string;
  /** Set if the agent's own file is gone and only its prompts are left. */
  promptsOnly?: true;
  tierNotPriced?: true;
  messages: string;
  cost?: string;
  spark?: string;
  /** ISO 8601, and as shown; missing if nothing dates it. */
  at?: string;
  when: string;
  exact: string;
  found?: Excerpts;
  below?: Below;
  withBelow?: string;
  /** Set if it is not shown below its parent. */
  origin?: { words: string; title: string; href: string };
};

/** Has no heading if the order isn't by day. */
export type ListGroup = { heading?: string; rows: ListRow[] };

type Props = { groups: ListGroup[]; given: GivenFilters; zone: string };

/** A client component, since a server component is sent twice. */
export function Rows({ groups, given, zone }: Props) {
  return (
    <div data-rows>
      {groups.map(({ heading, rows }) => (
        <section key={heading ?? ""}>
          {heading && <h2 className="day">{heading}</h2>}
          <ul aria-label={heading ? `Sessions, ${heading}` : "Sessions"} className="border-hairline border-t">
            {rows.map((row) => (
              <Session key={row.id} row={row} given={given} zone={zone} />
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

type FactsProps = { row: ListRow; given: GivenFilters };
type SessionProps = FactsProps & { zone: string };

function Session({ row, given, zone }: SessionProps) {
  const { id, title, whole, star, tags, at, when, exact, found, below, withBelow, origin } = row;
  const key = id.slice(-6);
  // Exact figures appear on hover or focus: for fifty rows they are 5 KB.
  const [isNear, setNear] = useState(false);
  const onNear = () => setNear(true);
  return (
    <li className="session" onPointerEnter={onNear} onFocus={onNear}>
      <label className="tick">
        <input type="checkbox" name="id" value={id} aria-labelledby={`t${key}`} />
      </label>
      <a id={`t${key}`} data-row="" href={traceHref(id, given)} aria-describedby={isNear ? `x${key}` : undefined}>
        {title ?? <span className="text-muted">Untitled session</span>}
      </a>
      <button type="button" className="star" aria-label="Star" aria-pressed={star === true} />
      <time dateTime={at}>{when}</time>
      <div className="facts">
        {row.live && <span className="live-mark">{row.live}</span>}
        <Facts row={row} given={given} />
        {tags?.map((tag) => (
          <a key={tag} href={listHref({ ...given, tag })} className="tag">
            {tag}
          </a>
        ))}
      </div>
      <div className="figures">
        <Figures row={row} />
      </div>
      {isNear && (
        <p id={`x${key}`}>
          {whole && (
            <>
              {whole}
              <br />
            </>
          )}
          {[exact, at && longTime(new Date(at), zone)].filter(Boolean).join(" · ")}
          {withBelow && (
            <>
              <br />
              {withBelow}
            </>
          )}
        </p>
      )}
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

const getTextSize = (text: string) => (text.length > 16 ? "long" : undefined);

function Facts({ row, given }: FactsProps) {
  const { source, icon, monogram, project, projectId, branch, model, exactModel, machine } = row;
  return (
    <>
      {monogram ? (
        <span role="img" aria-label={source} title={source} className={`monogram ${getAgentColor(source)}`}>
          {monogram}
        </span>
      ) : (
        <svg role="img" aria-label={source} className={`agent ${getAgentColor(source)}`}>
          <use href={`/agents.svg#${icon ?? source}`} />
        </svg>
      )}
      {model && (
        <a href={listHref({ ...given, model: exactModel ?? model })} title={exactModel} className={getTextSize(model)}>
          {model}
        </a>
      )}
      {project && (
        <a
          href={projectId ? `/projects/${projectId}` : listHref({ ...given, project })}
          className={getTextSize(project)}
        >
          {project}
        </a>
      )}
      {branch && (
        <a href={listHref({ ...given, branch })} className={`branch ${getTextSize(branch) ?? ""}`}>
          {branch}
        </a>
      )}
      {machine && <span className={getTextSize(machine)}>{machine}</span>}
      {row.promptsOnly && <span>prompts only</span>}
      {row.tierNotPriced && <span className="tier">tier not priced</span>}
    </>
  );
}

/** Omits points within a flat part. */
function toPoints(heights: string): string {
  const isInner = (at: number) => heights[at] === heights[at - 1] && heights[at] === heights[at + 1];
  return [...heights].flatMap((height, at) => (isInner(at) ? [] : [`${at} ${9 - Number(height)}`])).join(" ");
}

function Figures({ row: { pull, errors, added, removed, took, messages, cost, spark } }: { row: ListRow }) {
  return (
    <>
      {pull && (
        <a href={pullHref(pull[0], pull[1])} title={`Pull request ${pull[0]}#${pull[1]}`} className="pull">
          {`#${pull[1]}${pull[2] > 0 ? ` +${pull[2]}` : ""}`}
        </a>
      )}
      {errors && <span className="errors">{errors}</span>}
      {added && (
        <span className="changes" title="Lines changed by all edits">
          <ins>{`+${added}`}</ins> <del>{`−${removed}`}</del>
        </span>
      )}
      {spark && (
        <svg aria-hidden="true" viewBox="0 0 15 9" className="spark">
          <polyline points={toPoints(spark)} />
        </svg>
      )}
      {took && <span className="took">{took}</span>}
      <span className="messages">{`${messages} msg`}</span>
      {cost && <span className="cost">{cost}</span>}
    </>
  );
}
