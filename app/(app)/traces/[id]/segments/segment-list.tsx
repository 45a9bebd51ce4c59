"use client";
import { memo, type RefObject, useCallback } from "react";
import type { Segment } from "./render";
import type { LoadPlace, SegmentEdge } from "./segment-changes";

type Props = {
  list: RefObject<HTMLDivElement | null>;
  segments: Segment[];
  /** @returns a function to call on unmount */
  onMount: (element: HTMLElement) => () => void;
  failed: ReadonlySet<LoadPlace>;
  live: boolean;
  retry: (place: LoadPlace) => void;
  href: (query: Record<string, string>) => string;
};

export function SegmentList({ list, segments, failed, live, retry, href, onMount }: Props) {
  const [first] = segments;
  const last = segments.at(-1);
  return (
    <>
      {/* Messages' own headings come below this one. */}
      <h2 className="sr-only [overflow-anchor:none]">Messages</h2>
      {first?.earlier && (
        <div data-edge="earlier" className="[overflow-anchor:none]">
          <Edge edge="earlier" href={href({ before: String(first.first) })} {...{ failed, retry, live }} />
        </div>
      )}
      {/* Only messages take part in scroll anchoring. */}
      <div ref={list} className="min-w-0" data-messages>
        {segments.map((segment) => (
          // A grown segment and another view get new elements, which restores their folds.
          <SegmentView key={`${segment.first} ${segment.count} ${segment.talk}`} segment={segment} onMount={onMount} />
        ))}
      </div>
      {last?.later && (
        // A message near the end of the loaded part must be able to scroll to the top.
        <div data-edge="later" className={`[overflow-anchor:none] ${live ? "min-h-dvh" : ""}`}>
          <Edge edge="later" href={href({ after: String(last.last) })} {...{ failed, retry, live }} />
        </div>
      )}
      {failed.has("jump") && (
        <div className="fixed bottom-[calc(var(--tabs)+1rem)] left-1/2 z-[6] w-max max-w-[calc(100vw-2rem)] -translate-x-1/2 rounded-block border border-hairline bg-overlay px-3 shadow-lg print:hidden">
          <Retry retry={() => retry("jump")} />
        </div>
      )}
    </>
  );
}

const SegmentView = memo(function SegmentView({ segment, onMount }: { segment: Segment } & Pick<Props, "onMount">) {
  const ref = useCallback((element: HTMLElement | null) => (element ? onMount(element) : undefined), [onMount]);
  return (
    <section
      ref={ref}
      data-first={segment.first}
      // Adding containment later counts as a layout shift in Chromium.
      className="-mx-2 flow-root px-2 [contain:layout_style_paint]"
      // biome-ignore lint/security/noDangerouslySetInnerHtml: messages/markup.ts wrote it, by lists of elements and attributes
      dangerouslySetInnerHTML={segment.markup}
    />
  );
});

type EdgeProps = Pick<Props, "failed" | "retry" | "live"> & { edge: SegmentEdge; href: string };

/** A link without JavaScript, otherwise a loading message. */
function Edge({ edge, failed, retry, href, live }: EdgeProps) {
  const isLater = edge === "later";
  return (
    <div className={`${isLater ? "sticky top-(--bars)" : ""} py-3 text-code`}>
      {failed.has(edge) ? (
        <Retry retry={() => retry(edge)} />
      ) : (
        <a href={href} rel={isLater ? "next" : "prev"} className="link target">
          {live ? `Loading ${edge} messages…` : isLater ? "Later" : "Earlier"}
        </a>
      )}
    </div>
  );
}

function Retry({ retry }: { retry: () => void }) {
  return (
    <p role="alert" className="flex items-center gap-3 py-3">
      <span>Could not load these messages. Nothing is lost.</span>
      <button type="button" onClick={retry} className="button">
        Try again
      </button>
    </p>
  );
}
