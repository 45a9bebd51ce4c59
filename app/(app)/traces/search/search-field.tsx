"use client";
import { useRouter } from "next/navigation";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { keepSearch, keptSearches } from "../../../components/shell/kept-searches";
import { HiddenFilters } from "../filters/filter-menu";
import { type GivenFilters, without } from "../hrefs";

/** Results show after this pause. */
const pauseMs = 200;
const maxShown = 8;

type SearchBoxProps = { userId: string; given: GivenFilters; order: "newest" | "best" };

export function SearchBox({ userId, given, order }: SearchBoxProps) {
  return (
    <search className="min-w-0 grow max-sm:basis-0">
      <form method="get" action="/traces" className="flex gap-2">
        <label htmlFor="search" className="sr-only">
          Search
        </label>
        <SearchField userId={userId} q={given.q ?? ""} />
        <HiddenFilters given={without(given, "q")} />
        {order === "newest" && given.q && <input type="hidden" name="order" value={order} />}
        <button type="submit" className="button max-sm:hidden">
          Search
        </button>
      </form>
    </search>
  );
}

function SearchField({ userId, q }: { userId: string; q: string }) {
  const router = useRouter();
  const field = useRef<HTMLInputElement>(null);
  const [options, setOptions] = useState<string[]>([]);
  const typed = useRef({ hasEntry: false, timer: 0, asked: 0 });
  useEffect(() => {
    if (q) keepSearch(userId, q);
    // Follows links and Back, but keeps what is being typed.
    if (field.current && document.activeElement !== field.current) field.current.value = q;
  }, [userId, q]);
  useEffect(() => () => window.clearTimeout(typed.current.timer), []);

  const onInput = () => {
    const { value, form } = field.current as HTMLInputElement;
    window.clearTimeout(typed.current.timer);
    showOptions(value);
    if (!form || !isWhole(value)) return;
    typed.current.timer = window.setTimeout(() => {
      const href = makeSearchHref(form);
      // Continuous typing makes one history entry.
      if (typed.current.hasEntry) router.replace(href, { scroll: false });
      else router.push(href, { scroll: false });
      typed.current.hasEntry = true;
    }, pauseMs);
  };

  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key !== "Enter") return;
    window.clearTimeout(typed.current.timer);
    const { form } = event.currentTarget;
    if (form && typed.current.hasEntry && makeSearchHref(form) === location.pathname + location.search)
      event.preventDefault();
  };

  const showOptions = (value: string) => {
    typed.current.asked += 1;
    const { asked } = typed.current;
    const earlier = keptSearches(userId).filter(
      (one) => one !== value && one.toLowerCase().startsWith(value.toLowerCase()),
    );
    load(value).then(
      (found) =>
        asked === typed.current.asked &&
        setOptions([...new Set([...earlier.slice(0, 3), ...found])].slice(0, maxShown)),
      () => {}, // typing works without suggestions
    );
  };

  return (
    <>
      <input
        ref={field}
        id="search"
        type="search"
        name="q"
        defaultValue={q}
        placeholder="Search sessions…"
        autoComplete="off"
        spellCheck={false}
        maxLength={512}
        list="suggestions"
        onInput={onInput}
        onFocus={() => showOptions(field.current?.value ?? "")}
        onKeyDown={onKeyDown}
        onBlur={() => {
          window.clearTimeout(typed.current.timer);
          typed.current.hasEntry = false;
        }}
        className="input min-w-0 max-w-lg grow"
      />
      <datalist id="suggestions">
        {options.map((option) => (
          <option key={option} value={option} />
        ))}
      </datalist>
    </>
  );
}

const makeSearchHref = (form: HTMLFormElement) =>
  `/traces?${new URLSearchParams([...new FormData(form)].filter(([, text]) => text !== "") as string[][])}`;

/** False in the middle of a phrase, a filter or an `or`. */
const isWhole = (text: string) =>
  text.trim().length !== 1 &&
  !/(?:^|\s)(?:-|or|-?[a-z]+:)$/i.test(text.trimEnd()) &&
  (text.match(/["“”]/g)?.length ?? 0) % 2 === 0;

async function load(q: string): Promise<string[]> {
  if (q.trim() === "") return [];
  const response = await fetch(`/api/traces/suggestions?${new URLSearchParams({ q })}`);
  if (!response.ok) return [];
  const { suggestions } = (await response.json()) as { suggestions: { q: string }[] };
  return suggestions.map((suggestion) => suggestion.q);
}
