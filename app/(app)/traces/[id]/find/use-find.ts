"use client";
import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import type { Matches } from "#lib/traces/schema";
import { articleAt, openFoldsRound, topOffset } from "../frame/geometry";
import { paint, rangesOf, unpaint } from "./highlights";
import { type Match, matchFrom, ordinalOf, stepMatch, suits, wordsToFind } from "./matches";

type Props = {
  traceId: string;
  list: RefObject<HTMLElement | null>;
  /** The position at the top of the page. */
  top: () => number;
  jump: (position: number) => void;
  /** What the list was searched for, and the message that the address names. */
  initial: string;
  at: number | undefined;
};

type Result = { query: string; found: Matches };

/** Finding a text in the whole stored session: the server counts, and what is in the page is painted. */
export function useFind({ traceId, list, top, jump, initial, at }: Props) {
  const [open, setOpen] = useState(initial !== "");
  const [query, setQuery] = useState(() => wordsToFind(initial)[0]);
  /** What else of the list's search may be found here, until something was. */
  const untried = useRef<string[]>(undefined);
  untried.current ??= wordsToFind(initial).slice(1);
  const [result, setResult] = useState<Result>();
  const [state, setState] = useState<"idle" | "busy" | "failed">("idle");
  const [match, setMatch] = useState<Match>();
  const ranges = useRef<Range[]>([]);
  /** The match that is still to be scrolled to. */
  const awaited = useRef<Match>(undefined);

  const text = query.trim();
  useEffect(() => {
    if (!open || text === "") {
      setResult(undefined);
      setMatch(undefined);
      return;
    }
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      setState("busy");
      try {
        const response = await fetch(`/api/traces/${traceId}/matches?q=${encodeURIComponent(text)}`, {
          signal: stop.signal,
        });
        if (!response.ok) throw new Error(String(response.status));
        const found = (await response.json()) as Matches;
        const next = suits(found, at) ? undefined : untried.current?.shift();
        if (next !== undefined) return setQuery(next);
        untried.current = [];
        setResult({ query: text, found });
        setMatch(found.places.length > 0 ? matchFrom(found, top()) : undefined);
        setState("idle");
      } catch {
        if (!stop.signal.aborted) setState("failed");
      }
    }, 200);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [open, text, traceId, top, at]);

  const position = match && result?.found.places[match.place]?.[0];
  const refresh = useCallback(() => {
    if (!list.current || !result) return;
    const row = position === undefined ? null : articleAt(position);
    ranges.current = row ? rangesOf(row, result.query) : [];
    const current = match && ranges.current[Math.min(match.within, ranges.current.length - 1)];
    paint(
      nearby(list.current).flatMap((article) => rangesOf(article, result.query)),
      current,
    );
    if (!row || awaited.current !== match) return;
    if (current) {
      awaited.current = undefined;
      openFoldsRound(elementOf(current));
      bringIntoView(current);
    } else openUnloaded(row);
  }, [list, result, match, position]);

  useEffect(() => {
    if (!match || position === undefined) return;
    awaited.current = match;
    if (!articleAt(position)) jump(position);
  }, [match, position, jump]);

  useEffect(() => {
    if (!open || !result || !list.current) return unpaint();
    let timer = 0;
    const soon = () => {
      clearTimeout(timer);
      timer = window.setTimeout(refresh, 100);
    };
    refresh();
    const watcher = new MutationObserver(soon);
    watcher.observe(list.current, { childList: true, subtree: true });
    window.addEventListener("scroll", soon, { passive: true });
    return () => {
      clearTimeout(timer);
      watcher.disconnect();
      window.removeEventListener("scroll", soon);
      unpaint();
    };
  }, [open, result, refresh, list]);

  const type = useCallback((wanted: string) => {
    untried.current = [];
    setQuery(wanted);
  }, []);

  const step = useCallback(
    (by: 1 | -1) => {
      if (!result || !match || result.found.places.length === 0) return false;
      setMatch(stepMatch(result.found, match, by, ranges.current.length));
      return true;
    },
    [result, match],
  );

  return {
    open,
    setOpen,
    query,
    setQuery: type,
    step,
    state,
    found: result?.found,
    ordinal: result && match ? ordinalOf(result.found, match) : undefined,
  };
}

/** The rows near what is visible: painting thousands that nobody sees would only take time. */
function nearby(list: Element): Element[] {
  const near = [...list.querySelectorAll(":scope > section:not([data-box])")].filter((section) => {
    const { top, bottom } = section.getBoundingClientRect();
    return bottom > -window.innerHeight && top < 2 * window.innerHeight;
  });
  return near.flatMap((section) =>
    [...section.querySelectorAll("article[data-position]")].filter(
      (article) => !article.parentElement?.closest("article[data-position]"),
    ),
  );
}

const elementOf = ({ startContainer }: Range): Element =>
  startContainer instanceof Element ? startContainer : (startContainer.parentElement ?? document.body);

function bringIntoView(range: Range): void {
  const place = () => {
    const { top, bottom } = range.getBoundingClientRect();
    if (top >= topOffset() + 48 && bottom <= window.innerHeight - 16) return;
    window.scrollBy({ top: top - window.innerHeight / 3, behavior: "instant" });
  };
  place();
  requestAnimationFrame(() => requestAnimationFrame(place));
}

/** A match that was counted but is not in the page may stand in a body that is fetched when its fold is opened. */
function openUnloaded(row: Element): void {
  for (const fold of row.querySelectorAll<HTMLDetailsElement>("details[data-load]:not([open])")) {
    openFoldsRound(fold);
    fold.open = true;
  }
}
