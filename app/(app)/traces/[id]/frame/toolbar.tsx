"use client";
import { ChevronLeft, PanelLeft, Search, SkipBack, SkipForward } from "lucide-react";
import { formatCount } from "../../../../components/figures";
import { FindBar } from "../find/find-bar";
import type { Find } from "../find/use-find";
import { OutlineMenu } from "../outline/outline-menu";
import type { Links, View } from "./links";

type Props = {
  title: string;
  links: Links;
  talk: boolean;
  span: { from: number; to: number };
  total: number;
  resume: string | undefined;
  find: Find;
  onOutline: () => void;
  onCopy: (text: string) => void;
  onView: (view: View) => void;
  menu: { open: boolean; onOpenChange: (open: boolean) => void };
};

/** The bar that stays above the messages. */
export function Toolbar({ title, links, talk, span, total, resume, find, ...on }: Props) {
  const loaded = total > 0 && `${formatCount(span.from)}–${formatCount(span.to)} of ${formatCount(total)}`;
  return (
    <div data-toolbar className="sticky top-(--bar) z-[5] -mx-4 border-hairline border-b bg-page px-4">
      <div className="relative flex h-11 items-center gap-1 sm:gap-2 pointer-coarse:h-12">
        <a href={links.list} aria-label="Back to the list" title="Back to the list (u)" className={iconLook}>
          <ChevronLeft aria-hidden="true" className="size-4" />
        </a>
        <h1 className="min-w-0 grow truncate font-semibold text-prose" title={title}>
          {title}
        </h1>
        {loaded && <span className="shrink-0 text-code text-muted max-lg:hidden">{loaded}</span>}
        <Neighbours links={links} />
        <nav aria-label="View" className="flex shrink-0 rounded-control border border-edge text-code">
          <ViewLink href={links.all} isCurrent={!talk} onClick={() => on.onView("all")}>
            All
          </ViewLink>
          <ViewLink href={links.talk} isCurrent={talk} onClick={() => on.onView("talk")}>
            Talk
          </ViewLink>
        </nav>
        <button
          type="button"
          onClick={() => find.setOpen(true)}
          title="Find (f)"
          aria-label="Find"
          className={`${iconLook} needs-script`}
        >
          <Search aria-hidden="true" className="size-4" />
        </button>
        {resume && (
          <button
            type="button"
            title={`Copies: ${resume}`}
            onClick={() => on.onCopy(resume)}
            className="button needs-script max-sm:hidden"
          >
            Resume
          </button>
        )}
        <button
          type="button"
          onClick={on.onOutline}
          title="Outline (t)"
          aria-label="Show or hide the outline"
          className={`${iconLook} needs-script max-lg:hidden`}
        >
          <PanelLeft aria-hidden="true" className="size-4" />
        </button>
        {find.isOpen && <FindBar find={find} />}
      </div>
      <div className="flex items-center justify-between gap-2 pb-1 lg:hidden">
        <OutlineMenu {...on.menu} />
        {loaded && <span className="text-code text-muted">{loaded}</span>}
      </div>
    </div>
  );
}

const iconLook =
  "grid size-8 shrink-0 place-items-center rounded-control text-muted hover:bg-block hover:text-text pointer-coarse:size-11";

function Neighbours({ links: { newer, older } }: { links: Links }) {
  return (
    <span className="flex max-sm:hidden">
      {newer && (
        <a
          href={newer.href}
          rel="prev"
          aria-label={`Newer: ${newer.title}`}
          title={`[ ${newer.title}`}
          className={iconLook}
        >
          <SkipBack aria-hidden="true" className="size-4" />
        </a>
      )}
      {older && (
        <a
          href={older.href}
          rel="next"
          aria-label={`Older: ${older.title}`}
          title={`] ${older.title}`}
          className={iconLook}
        >
          <SkipForward aria-hidden="true" className="size-4" />
        </a>
      )}
    </span>
  );
}

type ViewProps = { href: string; isCurrent: boolean; onClick: () => void; children: string };

/** A link that works without script; with it, the place in the page is kept. */
function ViewLink({ href, isCurrent, onClick, children }: ViewProps) {
  return (
    <a
      href={href}
      aria-current={isCurrent ? "true" : undefined}
      onClick={(event) => {
        event.preventDefault();
        onClick();
      }}
      className="flex h-7 items-center rounded-control px-2 aria-[current]:bg-tint aria-[current]:font-medium pointer-coarse:h-11"
    >
      {children}
    </a>
  );
}
