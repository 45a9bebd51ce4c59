"use client";
import { useEffect, useState } from "react";
import type { Standing } from "#lib/traces/standing";
import type { ResumeWay } from "../facts/resume";
import { FindBar } from "../find/find-bar";
import type { Find } from "../find/use-find";
import { OutlineMenu } from "../outline/outline-menu";
import type { Links, View } from "./links";
import type { Share } from "./reader-keys";
import { Resume } from "./resume-button";
import { type Following, FollowSwitch, StandingMark } from "./standing";
import { Where } from "./where";

type Props = {
  title: string;
  whole?: string | undefined;
  links: Links;
  talk: boolean;
  first: number;
  total: number;
  standing: Standing;
  following: Following;
  resume?: ResumeWay[] | undefined;
  find: Find | undefined;
  onOutline: () => void;
  onView: (view: View) => void;
  onShare: Share | undefined;
  menu: { open: boolean; onOpenChange: (open: boolean) => void };
};

export function Toolbar({
  title,
  whole = title,
  links,
  talk,
  first,
  total,
  standing,
  following,
  resume,
  find,
  ...on
}: Props) {
  return (
    <div
      data-toolbar
      data-past={useIsTitlePast() ? "" : undefined}
      className="sticky top-(--bar) z-[5] -mx-4 border-hairline border-b bg-page px-4"
    >
      <div className="relative flex h-11 items-center gap-1 sm:gap-2 pointer-coarse:h-[calc(3rem-1px)]">
        {links.list && (
          <a href={links.list} aria-label="Back to the list" title="Back to the list (u)" className={iconLook}>
            <span className="i-lucide-chevron-left size-4" />
          </a>
        )}
        <div className="relative min-w-0 grow">
          <p aria-hidden="true" className="toolbar-title" title={whole}>
            {title}
          </p>
          <div className="toolbar-place lg:hidden">
            <OutlineMenu {...on.menu} />
          </div>
        </div>
        <StandingMark standing={standing} />
        {standing.live && <FollowSwitch following={following} />}
        <span className="shrink-0 max-lg:hidden">
          <Where first={first} total={total} />
        </span>
        <span className="contents max-sm:hidden">
          <Neighbours links={links} />
          <Views links={links} talk={talk} onView={on.onView} />
        </span>
        {find && (
          <button
            type="button"
            onClick={() => find.setOpen(true)}
            title="Find (f)"
            aria-label="Find"
            className={`${iconLook} needs-script`}
          >
            <span className="i-lucide-search size-4" />
          </button>
        )}
        {resume && (
          <span className="contents max-sm:hidden">
            <Resume ways={resume} />
          </span>
        )}
        <button
          type="button"
          onClick={on.onOutline}
          title="Outline (t)"
          aria-label="Show or hide the outline"
          className={`${iconLook} needs-script max-lg:hidden`}
        >
          <span className="i-lucide-panel-left size-4" />
        </button>
        <More links={links} talk={talk} resume={resume} onView={on.onView} onShare={on.onShare} />
        {find?.isOpen && <FindBar find={find} />}
      </div>
    </div>
  );
}

function useIsTitlePast(): boolean {
  const [isPast, setPast] = useState(false);
  useEffect(() => {
    const title = document.querySelector("[data-title]");
    if (!title) return;
    const bars = document.querySelector("[data-toolbar]")?.getBoundingClientRect().bottom ?? 0;
    const observer = new IntersectionObserver(([entry]) => setPast(entry?.isIntersecting === false), {
      rootMargin: `${-Math.round(bars)}px 0px 0px`,
    });
    observer.observe(title);
    return () => observer.disconnect();
  }, []);
  return isPast;
}

const iconLook =
  "grid size-8 shrink-0 place-items-center rounded-control text-muted hover:bg-block hover:text-text pointer-coarse:size-11";

type MoreProps = Pick<Props, "links" | "talk" | "resume" | "onView" | "onShare">;

function More({ links, talk, resume, onView, onShare }: MoreProps) {
  return (
    <details data-menu className="sm:hidden">
      <summary aria-label="More" className={`${iconLook} list-none`}>
        <span className="i-lucide-ellipsis size-4" />
      </summary>
      <div className="absolute top-full right-0 z-10 mt-1 flex w-72 max-w-full flex-col gap-3 rounded-block border border-hairline bg-overlay p-3 shadow-lg">
        <Views links={links} talk={talk} onView={onView} />
        {resume && <Resume ways={resume} />}
        <Neighbours links={links} />
        {onShare && (
          <div className="flex flex-wrap gap-2 needs-script">
            <button type="button" data-command="" onClick={() => onShare("turn")} className="button">
              Share this turn
            </button>
            <button type="button" data-command="" onClick={() => onShare("from")} className="button">
              Share from here on
            </button>
          </div>
        )}
      </div>
    </details>
  );
}

function Views({ links, talk, onView }: Omit<MoreProps, "resume" | "onShare">) {
  return (
    <nav aria-label="View" className="flex w-fit shrink-0 rounded-control border border-edge text-code">
      <ViewLink href={links.all} isCurrent={!talk} onClick={() => onView("all")}>
        Everything
      </ViewLink>
      <ViewLink href={links.talk} isCurrent={talk} onClick={() => onView("talk")}>
        Conversation
      </ViewLink>
    </nav>
  );
}

function Neighbours({ links: { newer, older } }: { links: Links }) {
  if (!newer && !older) return null;
  return (
    <nav aria-label="Neighbours in the list" className="flex shrink-0 text-code">
      {newer && (
        <a
          href={newer.href}
          rel="prev"
          aria-label={`Newer: ${newer.title}`}
          title={`${newer.title} ([)`}
          className={neighbourLook}
        >
          Newer
        </a>
      )}
      {older && (
        <a
          href={older.href}
          rel="next"
          aria-label={`Older: ${older.title}`}
          title={`${older.title} (])`}
          className={neighbourLook}
        >
          Older
        </a>
      )}
    </nav>
  );
}

const neighbourLook =
  "flex h-8 items-center rounded-control px-2 text-muted hover:bg-block hover:text-text pointer-coarse:h-11";

type ViewProps = { href: string; isCurrent: boolean; onClick: () => void; children: string };

function ViewLink({ href, isCurrent, onClick, children }: ViewProps) {
  return (
    <a
      href={href}
      aria-current={isCurrent ? "true" : undefined}
      onClick={(event) => {
        event.preventDefault();
        event.currentTarget.closest("details")?.removeAttribute("open");
        onClick();
      }}
      className="flex h-7 items-center rounded-control px-2 aria-[current]:bg-tint aria-[current]:font-medium pointer-coarse:h-11"
    >
      {children}
    </a>
  );
}
