import type { Findings } from "#lib/shares/check-for-others";
import { Notice } from "../../../../components/notice";
import { formatCount, formatQuantity } from "../../../../components/values/figures";

type Props = { findings: Findings; masked: boolean; traceId: string };

export function FindingList({ findings: { secrets, homes, isCut, messages }, masked, traceId }: Props) {
  const isClean = secrets.length === 0 && homes === 0;
  return (
    <Notice tone={isClean || masked ? "info" : "warn"}>
      {isClean && <p>No secrets and no home folders were found in {formatQuantity(messages, "message")}.</p>}
      {secrets.length > 0 && (
        <>
          <p>
            {masked ? "Hidden, each as " : "Shown as they are: "}
            {masked && <code className="font-mono text-code">[redacted:KIND]</code>}
            {masked ? ":" : ""}
          </p>
          <ul aria-label="Secrets that were found" className="flex flex-wrap gap-x-4 gap-y-1 text-code">
            {secrets.map(({ kind, count, position }) => (
              <li key={kind}>
                {formatCount(count)} × {kind},{" "}
                <a href={`/traces/${traceId}?at=${position}`} className="link">
                  message {position}
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
      {secrets.some(({ kind }) => kind === "unread") && (
        <p>
          Lines that take too long to search are counted as “unread”{masked && ", and hidden completely"}. They may
          contain secrets.
        </p>
      )}
      {homes > 0 && (
        <p>
          {formatQuantity(homes, "path")} in a home folder:{" "}
          {masked ? "the folder is shown as ~." : "the folder's name is shown."}
        </p>
      )}
      {isCut && (
        <p>
          The first {formatQuantity(messages, "message")} were searched.{masked && " The others are masked as well."}
        </p>
      )}
      <p className="text-muted">
        The search finds most keys and tokens, but not everything confidential. Read what you share.
      </p>
    </Notice>
  );
}
