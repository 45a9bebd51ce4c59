import type { Excerpt, Excerpts } from "#lib/search/excerpts";

const names: Record<Excerpt["speaker"], string> = {
  person: "you",
  assistant: "agent",
  thinking: "thinking",
  tool: "tool",
  notice: "notice",
};

type Props = { traceId: string; q: string; found: Excerpts };

export function ExcerptList({ traceId, q, found: { excerpts, more, atLeast } }: Props) {
  return (
    <ul className="flex min-w-0 basis-full flex-col gap-0.5 pb-1 sm:pl-8 text-code">
      {bySpeaker(excerpts).map((excerpt, place, all) => (
        <li key={excerpt.position} className="flex min-w-0 gap-2">
          <span className="w-14 shrink-0 text-muted">
            <span className={all[place - 1]?.speaker === excerpt.speaker ? "sr-only" : ""}>
              {names[excerpt.speaker]}
            </span>
          </span>
          <a
            href={placeHref(traceId, q, excerpt.position)}
            className="quiet-link line-clamp-3 min-h-6 min-w-0 sm:line-clamp-2 break-words"
          >
            <span className="text-muted">#{excerpt.position}</span> <Marked excerpt={excerpt} />
          </a>
        </li>
      ))}
      {more > 0 && (
        <li className="text-muted">
          <a href={searchHref(traceId, q)} className="link">
            {atLeast ? `more than ${more} more` : `+${more} more`}
          </a>
        </li>
      )}
    </ul>
  );
}

const bySpeaker = (excerpts: Excerpt[]) => [...Map.groupBy(excerpts, ({ speaker }) => speaker).values()].flat();

const searchHref = (traceId: string, q: string) => `/traces/${traceId}?${new URLSearchParams({ q })}`;
const placeHref = (traceId: string, q: string, position: number) =>
  `/traces/${traceId}?${new URLSearchParams({ at: String(position), q })}`;

function Marked({ excerpt: { text, ranges } }: { excerpt: Excerpt }) {
  const parts = ranges.flatMap(([start, end], place) => [
    text.slice(ranges[place - 1]?.[1] ?? 0, start),
    <mark key={start} className="bg-match text-text">
      {text.slice(start, end)}
    </mark>,
  ]);
  return [...parts, text.slice(ranges.at(-1)?.[1] ?? 0)];
}
