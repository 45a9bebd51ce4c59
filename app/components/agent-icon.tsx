import { findIcon } from "./agent-icons";
import { makeMonogram } from "./monogram";

/** An agent's icon in one quiet color, or its monogram. */
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

/** An agent's icon, or its monogram, in a frame; the agent is named beside it. */
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
