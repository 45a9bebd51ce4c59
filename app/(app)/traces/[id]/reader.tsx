"use client";
import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Standing } from "#lib/traces/standing";
import type { Outline } from "#lib/transcript/outline";
import { copyText } from "../../../components/command";
import { useKeys } from "../../../components/shell/keys";
import { formatQuantity } from "../../../components/values/figures";
import type { ResumeWay } from "./facts/resume";
import { useFind, useFindKey } from "./find/use-find";
import { type Frame, FrameContext, makeStore } from "./frame/frame";
import { nearestTalk } from "./frame/geometry";
import { dropFileTerms, type Filter, type Links, placeHref, type View } from "./frame/links";
import { Rail } from "./frame/rail";
import { readerKeys, sharing } from "./frame/reader-keys";
import { StandingLine } from "./frame/standing";
import { Toolbar } from "./frame/toolbar";
import { useAddress, useClicks } from "./frame/use-address";
import { isAtEnd, useBars, useEnds, useFollow } from "./frame/use-scrolling";
import { PictureDialog } from "./interaction/picture-dialog";
import { useBodies } from "./interaction/use-bodies";
import { useCopy } from "./interaction/use-copy";
import { useFolds } from "./interaction/use-folds";
import { OutlineAside } from "./outline/outline-aside";
import type { Segment } from "./segments/render";
import type { Supply } from "./segments/request";
import { SegmentList } from "./segments/segment-list";
import { useFreshFacts } from "./segments/use-fresh-facts";
import { useGrowth } from "./segments/use-growth";
import { useHeights } from "./segments/use-heights";
import { useSegments } from "./segments/use-segments";

export type ReaderProps = {
  supply: Supply;
  traceId?: string;
  zone: string;
  title: string;
  /** The title that was cut. */
  whole?: string | undefined;
  total: number;
  initial: Segment;
  talk: boolean;
  at: number | undefined;
  filter: Filter;
  links: Links;
  resume?: ResumeWay[] | undefined;
  standing: Standing;
  /** In rem. */
  outlineWidth: number;
  facts: React.ReactNode;
  outline: React.ReactNode;
};

export function Reader({ talk: firstView, ...given }: ReaderProps) {
  const [talk, setTalk] = useState(firstView);
  const props = { ...given, talk };
  const { supply, traceId, at, links, filter } = props;
  const list = useRef<HTMLDivElement>(null);
  const [panel, setPanel] = useState({ menu: false, rail: true });
  const { status, say, copy } = useClipboard();
  const [isFollowing, setFollowing] = useState(true);
  const messages = useMessages(props, list, isFollowing);
  const { segments, jump, remeasure } = messages;
  const { go, toEdge, toView: toViewAt, save } = useAddress({ list, jump, at, talk, setTalk });
  const look = useCallback((position: number) => jump({ position, quiet: true, near: true }), [jump]);
  const ways = useMemo(() => ({ jump: go, look, toEdge }), [go, look, toEdge]);
  const frame = useNewFrame(props, ways);
  const jumpQuietly = useCallback((position: number) => jump({ position, quiet: true }), [jump]);
  const find = useFind({
    traceId,
    list,
    top: frame.top.get,
    jump: jumpQuietly,
    initial: dropFileTerms(typeof filter.q === "string" ? filter.q : ""),
    at,
  });
  useCopy(list, traceId ?? "", say);
  useFollow(frame, list, messages.noteAnchor, save);
  useEnds(toEdge);
  useClicks(supply.page, go, list);
  useBars();

  const toView = (view: View) => {
    const top = frame.top.get();
    const at = String(view === "talk" ? (nearestTalk(list.current, top) ?? top) : top);
    toViewAt(view, placeHref(supply.page, { ...filter, at, ...(view === "talk" && { view }) }));
  };
  const toggleRail = () => setPanel((now) => ({ ...now, rail: !now.rail }));
  const toggleFollowing = () => {
    setFollowing(!isFollowing);
    if (!isFollowing) toEdge("end");
  };
  const setMenu = (menu: boolean) => setPanel((now) => ({ ...now, menu }));
  const toggleOutline = () => (window.innerWidth >= 1024 ? toggleRail() : setMenu(!panel.menu));
  const share = sharing(frame, list);
  const keys = { frame, list, links, find, copy, share, toView, talk, remeasure, toggleOutline, say };
  useKeys("This session", readerKeys(keys));
  useFindKey(find, messages.isPartlyLoaded);

  return (
    <FrameContext value={frame}>
      <Toolbar
        {...props}
        first={props.initial.before + 1}
        total={props.total + messages.growth.messages}
        standing={messages.growth}
        following={{ isOn: isFollowing, onToggle: toggleFollowing }}
        find={traceId === undefined ? undefined : find}
        onOutline={toggleRail}
        onView={toView}
        onShare={share}
        menu={{ open: panel.menu, onOpenChange: setMenu }}
      />
      <p role="status" className="sr-only">
        {status}
      </p>
      <Body {...props} messages={messages} list={list} rail={panel.rail} />
      <PictureDialog list={list} />
      <Growth count={messages.growth.messages} after={segments.at(-1)?.last} go={go} />
    </FrameContext>
  );
}

function useMessages(
  { supply, traceId, talk, initial, standing }: ReaderProps,
  list: RefObject<HTMLDivElement | null>,
  isFollowing: boolean,
) {
  const shown = useSegments({ list, supply, talk, initial, onHidden: showHidden });
  const { observe, remeasure, noteAnchor } = useHeights(list);
  const restoreFolds = useFolds(list);
  const onMount = useCallback(
    (element: HTMLElement) => {
      restoreFolds(element);
      return observe(element);
    },
    [restoreFolds, observe],
  );
  useBodies(list, supply.body, restoreFolds);
  const { segments } = shown;
  const last = segments.at(-1);
  const growth = useGrowth(traceId, last?.last ?? 0, last?.later === false, standing);
  useFreshFacts(last?.later === false ? last.last : undefined);
  const { follow } = shown;
  useEffect(() => {
    const isStill = () => isAtEnd(list.current);
    if (isFollowing && growth.messages > 0 && isStill()) follow(isStill);
  }, [growth.messages, isFollowing, follow, list]);
  const isPartlyLoaded = Boolean(segments[0]?.earlier || last?.later);
  return { ...shown, onMount, remeasure, noteAnchor, growth, isPartlyLoaded };
}

const showHidden = () => window.location.reload();

type BodyProps = ReaderProps & {
  messages: ReturnType<typeof useMessages>;
  list: RefObject<HTMLDivElement | null>;
  rail: boolean;
};

function Body({ messages, list, rail, supply, filter, talk, facts, outline, outlineWidth }: BodyProps) {
  const [live, setLive] = useState(false);
  useEffect(() => setLive(true), []);
  const { segments, failed, retry, onMount } = messages;
  const own = { ...filter, ...(talk && { view: "talk" }) };
  return (
    <div className="flex gap-6 lg:gap-4" data-live={live}>
      <OutlineAside width={outlineWidth} isShown={rail}>
        {outline}
      </OutlineAside>
      <div className="min-w-0 grow">
        <div className="[overflow-anchor:none]">{facts}</div>
        <SegmentList
          {...{ list, segments, failed, retry, onMount, live }}
          href={(query) => placeHref(supply.page, { ...own, ...query })}
        />
        {segments.at(-1)?.later === false && <StandingLine standing={messages.growth} />}
      </div>
      <Rail />
    </div>
  );
}

type GrowthProps = { count: number; after: number | undefined; go: (position: number) => void };

function Growth({ count, after, go }: GrowthProps) {
  if (count === 0 || after === undefined) return null;
  return (
    <button
      type="button"
      onClick={() => go(after + 1)}
      className="button button-accent fixed bottom-[calc(var(--tabs)+1rem)] left-1/2 z-[5] -translate-x-1/2 shadow-lg print:hidden"
    >
      {formatQuantity(count, "new message")} ↓
    </button>
  );
}

function useClipboard() {
  const [status, say] = useState("");
  const copy = useCallback(async (text: string, done: string) => {
    say((await copyText(text)) ? done : "Could not copy");
  }, []);
  return { status, say, copy };
}

function useNewFrame(
  { supply: { page }, traceId, zone, initial }: ReaderProps,
  ways: Pick<Frame, "jump" | "look" | "toEdge">,
): Frame {
  const { first, last } = initial;
  const [stores] = useState(() => ({
    top: makeStore(first),
    bottom: makeStore(last),
    outline: makeStore<Outline | undefined>(undefined),
  }));
  return useMemo(() => ({ page, traceId, zone, ...stores, ...ways }), [page, traceId, zone, stores, ways]);
}
