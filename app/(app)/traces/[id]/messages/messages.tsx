import type { ReaderRow } from "#lib/reader/rows";

type Props = { rows: ReaderRow[]; traceId: string; zone: string; talk: boolean };

export function Messages({ rows, traceId, talk }: Props) {
  return rows
    .filter((row) => row.talk || !talk)
    .map(({ position, kind, message }) => (
      <article
        key={position}
        id={`m${position}`}
        data-position={position}
        data-kind={kind}
        className="border-hairline border-t py-3"
      >
        <p className="text-meta text-muted">
          {kind} <a href={`/traces/${traceId}?at=${position}`}>#{position}</a>
        </p>
        {message.content.length > 4096 ? (
          <details data-load={position}>
            <summary>{message.content.slice(0, 80)}</summary>
          </details>
        ) : (
          <div className="whitespace-pre-wrap [overflow-wrap:anywhere]">{message.content}</div>
        )}
      </article>
    ));
}

export function MessageBody({ row }: { row: ReaderRow; traceId: string; zone: string; whole: true }) {
  return <div className="whitespace-pre-wrap [overflow-wrap:anywhere]">{row.message.content}</div>;
}
