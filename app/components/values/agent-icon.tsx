import { findIcon, makeMonogram } from "./agent-icons";

export function AgentIcon({ source }: { source: string }) {
  const icon = findIcon(source);
  if (!icon)
    return (
      <span role="img" aria-label={source} title={source} className="monogram">
        {makeMonogram(source)}
      </span>
    );
  return (
    <svg role="img" aria-label={source} className="agent">
      <use href={`/agents.svg#${icon}`} />
    </svg>
  );
}

export function Monogram({ source }: { source: string }) {
  const icon = findIcon(source);
  return (
    <span aria-hidden="true" className="monogram">
      {icon ? (
        <svg aria-hidden="true" className="agent">
          <use href={`/agents.svg#${icon}`} />
        </svg>
      ) : (
        makeMonogram(source)
      )}
    </span>
  );
}
