"use client";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Outline } from "#lib/reader/outline";
import { countOf } from "../../../components/figures";
import { useKeys } from "../../../components/keys";
import { useFind } from "./find/use-find";
import { type BodyPlace, useBodies } from "./folds/use-bodies";
import { useFolds } from "./folds/use-folds";
import { type Frame, FrameContext } from "./frame/frame";
import { nearestTalk, positionOf, topOffset } from "./frame/geometry";
import { type Links, readerHref } from "./frame/links";
import { readerKeys } from "./frame/reader-keys";
import { makeStore } from "./frame/store";
import { Toolbar } from "./frame/toolbar";
import { askedPosition, useAddress } from "./frame/use-address";
import { useCopy } from "./messages/use-copy";
import { loadedSpan } from "./segments/list";
import { loadBody } from "./segments/load";
import type { Segment } from "./segments/render";
import { WindowList } from "./segments/segment-list";
import { useGrowth } from "./segments/use-growth";
import { useMeasured } from "./segments/use-heights";
import { useWindows } from "./segments/use-segments";

type Props = {
  traceId: string;
  title: string;
  total: number;
  initial: Segment;
  talk: boolean;
  at: number | undefined;
  /** The list's filter, and what is to be found. */
  filter: Record<string, string>;
  links: Links;
  resume: string | undefined;
  /** What the server renders: facts above the messages, and the outline beside them. */
  facts: React.ReactNode;
  outline: React.ReactNode;
};

/** The frame of the page: the one client shell round messages that stay the server's. */
export function Reader(props: Props) {
  const { traceId, initial, talk, at, links, filter } = props;
  const list = useRef<HTMLDivElement>(null);
  const [said, setSaid] = useState("");
  const [panel, setPanel] = useState({ menu: false, rail: true });
  const windows = useWindows({ traceId, talk, initial, list, onHidden: showHidden });
  const { shown, jump } = windows;
  const { observe, remeasure, noteAnchor } = useMeasured(list);
  const restoreFolds = useFolds(list);
  const mount = useCallback(
    (section: HTMLElement | null) => {
      restoreFolds(section);
      return observe(section);
    },
    [restoreFolds, observe],
  );
  const { go, save } = useAddress({ list, jump, at });
  const frame = useFrameStores(traceId, initial.first, go);
  const top = frame.top.get;
  const jumpQuietly = useCallback((position: number) => jump({ position, quiet: true }), [jump]);
  const find = useFind({ traceId, list, top, jump: jumpQuietly, initial: filter.q ?? "", at });
  const load = useCallback((body: BodyPlace) => loadBody({ traceId, ...body }), [traceId]);
  const bodies = useBodies(list, load, restoreFolds);
  const last = shown.at(-1);
  const grown = useGrowth(traceId, last?.last ?? 0, last?.later === false);
  useCopy(list, traceId, setSaid);
  useFollow(frame, noteAnchor, save);
  useClicks(traceId, go, list);
  const copy = useCallback(async (text: string, what: string) => {
    const copied = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    );
    setSaid(copied ? what : "It could not be copied");
  }, []);

  const toView = (view: "all" | "talk") => {
    const position = view === "talk" ? nearestTalk(list.current, frame.top.get()) : frame.top.get();
    const place = { ...filter, ...(position !== undefined && { at: String(position) }) };
    window.location.assign(readerHref(traceId, view === "talk" ? { ...place, view } : place));
  };
  const [live, setLive] = useState(false);
  useEffect(() => setLive(true), []);
  useBars();
  const partly = shown[0]?.earlier || last?.later || shown.some(({ node }) => node === null);
  const bindings = readerKeys({ frame, list, links, find, copy, toView, talk, remeasure, setPanel, setSaid });
  useKeys("This session", bindings);
  useFindKey(find, Boolean(partly));

  return (
    <FrameContext value={frame}>
      <Toolbar
        {...props}
        total={props.total + grown}
        span={loadedSpan(shown)}
        find={find}
        onCloseFind={() => find.setOpen(false)}
        onOutline={() => setPanel((now) => ({ ...now, rail: !now.rail }))}
        onCopy={(text) => copy(text, "Command copied")}
        onView={(event) => {
          event.preventDefault();
          toView((event.currentTarget as HTMLElement).dataset.view === "talk" ? "talk" : "all");
        }}
        menu={{ open: panel.menu, onOpenChange: (menu) => setPanel((now) => ({ ...now, menu })) }}
      />
      <p role="status" className="sr-only">
        {said}
      </p>
      <div className="flex gap-6" data-live={live}>
        <aside
          aria-label="Outline"
          hidden={!panel.rail}
          className="sticky top-[92px] flex h-[calc(100dvh-92px)] w-64 shrink-0 flex-col py-3 max-lg:hidden print:hidden [&[hidden]]:hidden"
        >
          {props.outline}
        </aside>
        <div className="min-w-0 grow">
          <div className="[overflow-anchor:none]">{props.facts}</div>
          <WindowList
            live={live}
            {...windows}
            list={list}
            observe={mount}
            href={(query) => readerHref(traceId, { ...filter, ...(talk && { view: "talk" }), ...query })}
          />
          {bodies}
        </div>
      </div>
      {grown > 0 && last && (
        <button
          type="button"
          onClick={() => go(last.last + 1)}
          className="button button-accent fixed print:hidden bottom-4 left-1/2 z-[5] -translate-x-1/2 shadow-lg"
        >
          {countOf(grown, "new message")} ↓
        </button>
      )}
    </FrameContext>
  );
}

/** A message that Talk leaves out is shown by the server among all of them, which says so. */
const showHidden = () => window.location.reload();

function useFrameStores(traceId: string, first: number, go: (position: number) => void): Frame {
  const [stores] = useState(() => ({ top: makeStore(first), outline: makeStore<Outline | undefined>(undefined) }));
  return useMemo(() => ({ traceId, ...stores, jump: go }), [traceId, stores, go]);
}

/** Tells the style sheet how high the bars are, so that what the browser scrolls to by itself stands where a jump would put it. */
function useBars() {
  useEffect(() => {
    const tell = () => document.documentElement.style.setProperty("--bars", `${topOffset()}px`);
    tell();
    window.addEventListener("resize", tell);
    return () => window.removeEventListener("resize", tell);
  }, []);
}

/** Follows the scrolling: what is at the top, for the outline, and where the page stands, for going back. */
function useFollow({ top }: Frame, noteAnchor: () => Element | undefined, save: () => void) {
  useEffect(() => {
    let frame = 0;
    let rest = 0;
    const follow = () => {
      const row = noteAnchor();
      if (row) top.set(positionOf(row));
    };
    const onScroll = () => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(follow);
      clearTimeout(rest);
      rest = window.setTimeout(save, 400);
    };
    follow();
    window.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(rest);
      window.removeEventListener("scroll", onScroll);
    };
  }, [top, noteAnchor, save]);
}

/** Links to messages of this session jump; selecting a text that lies in a fold's summary does not toggle it. */
function useClicks(traceId: string, go: (position: number) => void, list: React.RefObject<HTMLElement | null>) {
  useEffect(() => {
    const onClick = (event: MouseEvent) => {
      if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
      const target = event.target instanceof Element ? event.target : undefined;
      const summary = target?.closest("summary");
      if (summary && list.current?.contains(summary) && selectionIn(summary)) event.preventDefault();
      const link = target?.closest<HTMLAnchorElement>("a[href]");
      if (!link || link.origin !== location.origin || link.pathname !== `/traces/${traceId}`) return;
      const address = new URL(link.href);
      const position = askedPosition(address);
      if (position === undefined || link.target || link.dataset.view) return;
      event.preventDefault();
      go(position);
    };
    document.addEventListener("click", onClick);
    return () => document.removeEventListener("click", onClick);
  }, [traceId, go, list]);
}

function selectionIn(place: Element): boolean {
  const selection = getSelection();
  return Boolean(selection && !selection.isCollapsed && selection.containsNode(place, true));
}

/** Ctrl+F finds in the whole session while parts of it are not in the page; a second one is the browser's. */
function useFindKey(find: ReturnType<typeof useFind>, partly: boolean) {
  const { setOpen } = find;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "f" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey || !partly) return;
      const field = document.getElementById("find");
      if (field && document.activeElement === field) return;
      event.preventDefault();
      setOpen(true);
      field?.focus();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [setOpen, partly]);
}
