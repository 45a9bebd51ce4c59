"use client";
import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import { getOrdinal, stepMatch } from "./matches";
import { usePainting } from "./use-painting";
import { useSearch } from "./use-search";

type Props = {
  /** Undefined for readers of a shared session, who cannot search. */
  traceId: string | undefined;
  list: RefObject<HTMLElement | null>;
  top: () => number;
  jump: (position: number) => void;
  initial: string;
  at: number | undefined;
};

export type Find = ReturnType<typeof useFind>;

export function useFind({ traceId, list, jump, initial, ...search }: Props) {
  const field = useRef<HTMLInputElement>(null);
  const [asked, ask] = useState<"to type" | "to step" | false>(initial !== "" && "to type");
  const isOpen = asked !== false && traceId !== undefined;
  const { query, type, failed, found, goTo } = useSearch({ ...search, traceId: traceId ?? "", isOpen, initial });
  const ranges = usePainting(list, isOpen ? found : undefined, jump);

  const setOpen = useCallback((open: boolean) => ask(open && "to type"), []);
  const step = useCallback(
    (by: 1 | -1) => {
      if (!isOpen && query.trim() !== "") ask("to step");
      else if (found?.match) goTo(stepMatch(found.matches, found.match, by, ranges.current.length));
    },
    [found, goTo, ranges, isOpen, query],
  );

  return {
    field,
    isOpen,
    setOpen,
    isForTyping: asked === "to type",
    query,
    type,
    step,
    failed,
    matches: found?.matches,
    ordinal: found?.match && getOrdinal(found.matches, found.match),
  };
}

/** In the field itself, Ctrl+F is the browser's. */
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
