import { getAgentColor, makeMonogram } from "../../../components/values/agent-icon";

export const originWords = { subagent: "Sub-agent of", fork: "Fork of", continuation: "Continues" } as const;

export type BelowRow = {
  id: string;
  relation: string;
  source: string;
  title?: string;
  messages: string;
  tokens?: string;
  /** Missing if only the upload dates it. */
  at?: string;
  when: string;
  exact: string;
  below?: { href: string; label: string };
};

export type Below = {
  label: string;
  more?: string;
  rows: BelowRow[];
  all?: { href: string; label: string };
};

export function BelowFold({ id, below: { label, more, rows, all } }: { id: string; below: Below }) {
  return (
    <details className="below">
      <summary>
        {label}
        {more && <span className="text-muted"> · {more}</span>}
      </summary>
      <ul aria-label={label}>
        {rows.map((row) => (
          <BelowSession key={row.id} row={row} />
        ))}
        {all && (
          <li>
            <a href={all.href} className="link" id={`all-${id}`}>
              {all.label}
            </a>
          </li>
        )}
      </ul>
    </details>
  );
}

function BelowSession({
  row: { id, relation, source, title, messages, tokens, at, when, exact, below },
}: {
  row: BelowRow;
}) {
  return (
    <li className="session">
      <span role="img" aria-label={source} title={source} className={`monogram ${getAgentColor(source)}`}>
        {makeMonogram(source)}
      </span>
      <a data-row href={`/traces/${id}`} aria-describedby={`x${id}`} className="quiet-link">
        {title ?? <span className="text-muted">Untitled session</span>}
      </a>
      <div>
        <span className="relation">{relation}</span>
        {below && (
          <a href={below.href} className="quiet-link">
            {below.label}
          </a>
        )}
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
      <p id={`x${id}`}>{exact}</p>
    </li>
  );
}
