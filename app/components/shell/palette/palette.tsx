"use client";
import { Autocomplete } from "@base-ui/react/autocomplete";
import { Dialog } from "@base-ui/react/dialog";
import { useEffect, useRef, useState } from "react";
import type { NamesResponse } from "#lib/search/schema";
import { formatQuantity } from "../../values/figures";
import { goTo } from "../navigation";
import { type EntryGroup, groupEntries, openActions, type PaletteEntry } from "./entries";

type Props = { isOpen: boolean; onOpenChange: (isOpen: boolean) => void };

export function Palette({ isOpen, onOpenChange }: Props) {
  return (
    <Dialog.Root open={isOpen} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-30 bg-page/70" />
        <Dialog.Popup className="palette">
          <Dialog.Title className="sr-only">Go to</Dialog.Title>
          <Search onDone={() => onOpenChange(false)} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Search({ onDone }: { onDone: () => void }) {
  const [query, setQuery] = useState("");
  const [actions, setActions] = useState<PaletteEntry[]>([]);
  useEffect(() => setActions(openActions()), []);
  const { found, hasFailed } = useNames(query);
  const groups = groupEntries(query, actions, found);
  const list = useRef<HTMLDivElement>(null);
  const choose = (entry: PaletteEntry) => {
    onDone();
    // Runs after the dialog has returned the focus.
    if ("run" in entry) setTimeout(entry.run, 0);
    else goTo(entry.href);
  };
  const count = groups.reduce((sum, { items }) => sum + items.length, 0);
  return (
    <Autocomplete.Root
      open
      inline
      mode="none"
      items={groups}
      value={query}
      onValueChange={(value, { reason }) => {
        if (reason !== "item-press") setQuery(value);
        list.current?.scrollTo({ top: 0 });
      }}
      itemToStringValue={(entry: PaletteEntry) => entry.text}
      autoHighlight="always"
      keepHighlight
    >
      <Autocomplete.Input
        aria-label="Go to a page, project or session"
        placeholder="A page, a project, a session…"
        autoComplete="off"
        spellCheck={false}
        maxLength={200}
      />
      <Autocomplete.Status className="sr-only">
        {hasFailed ? "Could not load sessions." : formatQuantity(count, "result")}
      </Autocomplete.Status>
      <Autocomplete.List ref={list} className="entries">
        {(group: EntryGroup) => (
          <Autocomplete.Group key={group.title} items={group.items}>
            <Autocomplete.GroupLabel>{group.title}</Autocomplete.GroupLabel>
            <Autocomplete.Collection>
              {(entry: PaletteEntry) => (
                <Autocomplete.Item key={entry.id} value={entry} onClick={() => choose(entry)} className="entry">
                  <span className="min-w-0 grow truncate">{entry.text}</span>
                  {entry.detail && <span className="max-w-40 shrink-0 truncate text-muted">{entry.detail}</span>}
                </Autocomplete.Item>
              )}
            </Autocomplete.Collection>
          </Autocomplete.Group>
        )}
      </Autocomplete.List>
      {hasFailed && (
        <p className="border-hairline border-t px-4 py-2 text-code text-warn">
          Could not load sessions and projects. Keep typing to try again.
        </p>
      )}
      <p aria-hidden="true" className="hints">
        <span>
          <kbd>
            <span className="i-lucide-arrow-up block size-3" />
          </kbd>{" "}
          <kbd>
            <span className="i-lucide-arrow-down block size-3" />
          </kbd>{" "}
          choose
        </span>
        <span>
          <kbd>Enter</kbd> open
        </span>
        <span>
          <kbd>Esc</kbd> close
        </span>
      </p>
    </Autocomplete.Root>
  );
}

const pauseMs = 60;

/** The last answer stays until the next one arrives. */
function useNames(query: string): { found: NamesResponse | undefined; hasFailed: boolean } {
  const [found, setFound] = useState<NamesResponse>();
  const [hasFailed, setFailed] = useState(false);
  const asked = query.trim();
  useEffect(() => {
    const leaving = new AbortController();
    const ask = async () => {
      const response = await fetch(`/api/names?${new URLSearchParams(asked ? { q: asked } : {})}`, {
        signal: leaving.signal,
      });
      if (!response.ok) throw new Error(`The names could not be read: ${response.status}`);
      setFound((await response.json()) as NamesResponse);
      setFailed(false);
    };
    const timer = setTimeout(() => ask().catch(() => setFailed(!leaving.signal.aborted)), asked ? pauseMs : 0);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [asked]);
  return { found, hasFailed };
}
