"use client";
import { memo, type RefObject } from "react";
import type { Shown } from "./list";
import type { Place } from "./use-segments";

type Props = {
  list: RefObject<HTMLDivElement | null>;
  shown: Shown[];
  observe: (section: HTMLElement | null) => (() => void) | undefined;
  failed: Place | undefined;
  /** Whether the script is at work. */
  live: boolean;
  retry: () => void;
  href: (query: Record<string, string>) => string;
};

/** The windows of messages one below the other, and what stands for those that are not loaded. */
export function WindowList({ list, shown, observe, failed, live, retry, href }: Props) {
  const [first] = shown;
  const last = shown.at(-1);
  return (
    <>
      {first?.earlier && (
        <Edge
          failed={failed === "earlier"}
          retry={retry}
          href={href({ before: String(first.first) })}
          name="Earlier"
          live={live}
        />
      )}
      {/* Only messages may be what scrolling holds on to; all above them is left out of it (globals.css). */}
      <div ref={list} className="min-w-0" data-messages>
        {shown.map((segment) => (
          <Section
            key={segment.key}
            segment={segment}
            observe={observe}
            failed={failed === segment.key}
            retry={retry}
          />
        ))}
      </div>
      {last?.later && (
        // As long as there is more, what is jumped to near the end of what is loaded can come to stand at the top.
        <div className={live ? "min-h-dvh" : undefined}>
          <Edge
            failed={failed === "later"}
            retry={retry}
            href={href({ after: String(last.last) })}
            name="Later"
            live={live}
          />
        </div>
      )}
    </>
  );
}

type SectionProps = Pick<Props, "observe" | "retry"> & { segment: Shown; failed: boolean };

const Section = memo(function Section({ segment: { key, node, height, first }, observe, failed, retry }: SectionProps) {
  if (node === null)
    return (
      <section key="box" data-key={key} data-box="" data-first={first} style={{ height }}>
        {failed && <Retry retry={retry} />}
      </section>
    );
  return (
    <section key="messages" ref={observe} data-key={key} data-first={first} className="-mx-2 flow-root px-2">
      {node}
    </section>
  );
});

type EdgeProps = { failed: boolean; retry: () => void; href: string; name: "Earlier" | "Later"; live: boolean };

/** Without script a link to the neighbouring window; with it, what shows for as long as the neighbour is not there yet. */
function Edge({ failed, retry, href, name, live }: EdgeProps) {
  return (
    // Below the last window it stays in sight in the room that is kept free there.
    <div className={`${name === "Later" ? "sticky top-(--bars)" : ""} py-3 text-code [overflow-anchor:none]`}>
      {failed ? (
        <Retry retry={retry} />
      ) : (
        <a href={href} rel={name === "Later" ? "next" : "prev"} className="link">
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
