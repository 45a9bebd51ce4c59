"use client";
import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import { getOrdinal, stepMatch } from "./matches";
import { usePainting } from "./use-painting";
import { useSearch } from "./use-search";

type Props = {
  /** None for who reads by a link: nothing is looked for there. */
  traceId: string | undefined;
  list: RefObject<HTMLElement | null>;
  /** The position at the top of the page. */
  top: () => number;
  jump: (position: number) => void;
  /** What the list was searched for, and the message that the address names. */
  initial: string;
  at: number | undefined;
};

export type Find = ReturnType<typeof useFind>;

/** Finds a text in the whole stored session: the server counts, and what is on the page is painted. */
export function useFind({ traceId, list, jump, initial, ...search }: Props) {
  const field = useRef<HTMLInputElement>(null);
  const [asked, ask] = useState<"to type" | "to step" | false>(initial !== "" && "to type");
  const isOpen = asked !== false && traceId !== undefined;
  const { query, type, failed, found, goTo } = useSearch({ ...search, traceId: traceId ?? "", isOpen, initial });
  const ranges = usePainting(list, isOpen ? found : undefined, jump);

  const setOpen = useCallback((open: boolean) => ask(open && "to type"), []);
  const step = useCallback(
    (by: 1 | -1) => {
      if (!isOpen && query.trim() !== "")
        ask("to step"); // what was looked for before, from here
      else if (found?.match) goTo(stepMatch(found.matches, found.match, by, ranges.current.length));
    },
    [found, goTo, ranges, isOpen, query],
  );

  return {
    field,
    isOpen,
    setOpen,
    /** Whether the field takes the focus as it opens: who steps to the next match has the keys of the page. */
    isForTyping: asked === "to type",
    query,
    type,
    step,
    failed,
    matches: found?.matches,
    ordinal: found?.match && getOrdinal(found.matches, found.match),
  };
}

/** Ctrl+F finds in the whole session while parts of it are not on the page; pressed again in the field, it is the browser's. */
export function useFindKey({ field, setOpen }: Find, isPartlyLoaded: boolean) {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isFind = event.key === "f" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey;
      if (!isFind || !isPartlyLoaded || (field.current && document.activeElement === field.current)) return;
      event.preventDefault();
      setOpen(true);
      field.current?.focus();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [field, setOpen, isPartlyLoaded]);
}
