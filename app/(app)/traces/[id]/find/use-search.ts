"use client";
import { useCallback, useEffect, useRef, useState } from "react";
import type { Matches } from "#lib/messages/schema";
import { type Match, matchFrom, suits, wordsToFind } from "./matches";

export type FindResult = { text: string; matches: Matches; match: Match | undefined };

type Props = {
  traceId: string;
  isOpen: boolean;
  top: () => number;
  initial: string;
  at: number | undefined;
};

const debounceMs = 200;

export function useSearch({ traceId, isOpen, top, initial, at }: Props) {
  const [query, setQuery] = useState(() => wordsToFind(initial)[0]);
  /** The other words of the list's search, until one is found. */
  const untried = useRef<string[]>(undefined);
  untried.current ??= wordsToFind(initial).slice(1);
  const [found, setFound] = useState<FindResult>();
  const [failed, setFailed] = useState(false);

  const text = isOpen ? query.trim() : "";
  useEffect(() => {
    if (text === "") return setFound(undefined);
    const stop = new AbortController();
    const search = async () => {
      setFailed(false);
      try {
        const matches = await findMatches(traceId, text, stop.signal);
        const next = suits(matches, at) ? undefined : untried.current?.shift();
        if (next !== undefined) return setQuery(next);
        untried.current = [];
        setFound({ text, matches, match: matches.places.length > 0 ? matchFrom(matches, top()) : undefined });
      } catch {
        if (!stop.signal.aborted) setFailed(true);
      }
    };
    const timer = setTimeout(search, debounceMs);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text, traceId, top, at]);

  const type = useCallback((typed: string) => {
    untried.current = [];
    setQuery(typed);
  }, []);
  const goTo = useCallback((match: Match) => setFound((now) => now && { ...now, match }), []);

  return { query, type, failed, found, goTo };
}

async function findMatches(traceId: string, text: string, signal: AbortSignal): Promise<Matches> {
  const response = await fetch(`/api/traces/${traceId}/matches?q=${encodeURIComponent(text)}`, { signal });
  if (!response.ok) throw new Error(`the search answered ${response.status}`);
  return (await response.json()) as Matches;
}
