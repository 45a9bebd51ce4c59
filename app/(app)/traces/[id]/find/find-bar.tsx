"use client";
import { useEffect } from "react";
import { formatCount, formatQuantity } from "../../../../components/values/figures";
import type { Find } from "./use-find";

/** Overlays the page so that no text moves. */
export function FindBar({ find }: { find: Find }) {
  const { field, isForTyping } = find;
  const close = () => find.setOpen(false);
  useEffect(() => {
    if (!isForTyping) return;
    field.current?.focus();
    field.current?.select();
  }, [field, isForTyping]);
  return (
    <search
      aria-label="Find in this session"
      className="absolute top-full right-0 z-10 mt-1 flex max-w-full flex-wrap items-center gap-1 rounded-block border border-hairline bg-overlay p-2 shadow-lg"
    >
      <input
        ref={field}
        id="find"
        type="search"
        aria-label="Find"
        placeholder="Find in the whole session"
        value={find.query}
        maxLength={512}
        autoComplete="off"
        onChange={({ target }) => find.type(target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") find.step(event.shiftKey ? -1 : 1);
          else if (event.key === "Escape") close();
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
        className="input w-60"
      />
      <output htmlFor="find" className="min-w-28 px-2 text-code text-muted">
        {describeFind(find)}
      </output>
      <IconButton label="Previous match" onClick={() => find.step(-1)}>
        <span className="i-lucide-chevron-up size-4" />
      </IconButton>
      <IconButton label="Next match" onClick={() => find.step(1)}>
        <span className="i-lucide-chevron-down size-4" />
      </IconButton>
      <IconButton label="Close find" onClick={close}>
        <span className="i-lucide-x size-4" />
      </IconButton>
    </search>
  );
}

function describeFind({ query, matches, ordinal, failed }: Find): string {
  if (query.trim() === "") return "";
  if (failed) return "Could not search. Try again.";
  if (!matches) return "Searching…";
  if (matches.total === 0) return "Nothing found";
  return `${formatCount(ordinal ?? 1)} of ${formatCount(matches.total)} in ${formatQuantity(matches.messages, "message")}`;
}

type ButtonProps = { label: string; onClick: () => void; children: React.ReactNode };

function IconButton({ label, onClick, children }: ButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      onClick={onClick}
      className="grid size-8 place-items-center rounded-control hover:bg-block pointer-coarse:size-11"
    >
      {children}
    </button>
  );
}
