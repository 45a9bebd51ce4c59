"use client";
import { memo, type RefObject, useCallback } from "react";
import type { Segment } from "./render";
import type { LoadPlace } from "./segment-changes";

type Props = {
  list: RefObject<HTMLDivElement | null>;
  segments: Segment[];
  /** @returns a function to call on unmount */
  onMount: (element: HTMLElement) => () => void;
  failed: LoadPlace | undefined;
  live: boolean;
  retry: () => void;
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
        <Edge
          failed={failed === "earlier"}
          retry={retry}
          href={href({ before: String(first.first) })}
          name="Earlier"
          live={live}
        />
      )}
      {/* Only messages take part in scroll anchoring (reader.css). */}
      <div ref={list} className="min-w-0" data-messages>
        {segments.map((segment) => (
          // A grown segment and another view get new elements, which restores their folds.
          <SegmentView key={`${segment.first} ${segment.count} ${segment.talk}`} segment={segment} onMount={onMount} />
        ))}
      </div>
      {last?.later && (
        // A message near the end of the loaded part must be able to scroll to the top.
        <div data-edge="" className={live ? "min-h-dvh" : undefined}>
          <Edge
            failed={failed === "later"}
            retry={retry}
            href={href({ after: String(last.last) })}
            name="Later"
            live={live}
          />
        </div>
      )}
      {failed === "jump" && (
        <div className="fixed bottom-[calc(var(--tabs)+1rem)] left-1/2 z-[6] w-max max-w-[calc(100vw-2rem)] -translate-x-1/2 rounded-block border border-hairline bg-overlay px-3 shadow-lg print:hidden">
          <Retry retry={retry} />
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

type EdgeProps = { failed: boolean; retry: () => void; href: string; name: "Earlier" | "Later"; live: boolean };

/** A link without script; with it, a loading message. */
function Edge({ failed, retry, href, name, live }: EdgeProps) {
  return (
    <div
      data-edge=""
      className={`${name === "Later" ? "sticky top-(--bars)" : ""} py-3 text-code [overflow-anchor:none]`}
    >
      {failed ? (
        <Retry retry={retry} />
      ) : (
        <a href={href} rel={name === "Later" ? "next" : "prev"} className="link target">
          {live ? `Loading ${name.toLowerCase()} messages…` : name}
        </a>
      )}
    </div>
  );
}

function Retry({ retry }: { retry: () => void }) {
  return (
    <p role="alert" className="flex items-center gap-3 py-3">
      <span>These messages could not be loaded. Nothing is lost.</span>
      <button type="button" onClick={retry} className="button">
        Try again
      </button>
    </p>
  );
}
