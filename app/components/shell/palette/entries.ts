import type { NamesResponse } from "#lib/search/schema";
import { pages } from "../pages";

export type PaletteEntry = { id: string; text: string; detail?: string } & ({ href: string } | { run: () => void });
export type EntryGroup = { title: string; items: PaletteEntry[] };

const places = [
  ...pages,
  { href: "/upload", name: "Upload a file" },
  { href: "/files", name: "Find files" },
  { href: "/settings", name: "Settings" },
  { href: "/settings/sign-ins", name: "Settings: sign-ins" },
  { href: "/settings/two-factor", name: "Settings: two-factor authentication" },
  { href: "/settings/shares", name: "Settings: shared sessions" },
  { href: "/settings/trail", name: "Settings: audit trail" },
  { href: "/docs", name: "API documentation" },
] as const;

const splitWords = (query: string): string[] => query.toLowerCase().split(/\s+/).filter(Boolean);

const ofSession = [
  { selector: 'main button[title^="Copies: "]', text: "Resume: copy the command" },
  { selector: 'main a[href^="/api/traces/"][href$="/export.md"]', text: "Export as Markdown" },
  { selector: 'main a[href^="/api/traces/"][href$="/export.json"]', text: "Export as JSON" },
] as const;

export function openActions(): PaletteEntry[] {
  const known = ofSession.flatMap(({ selector, text }) => {
    const element = document.querySelector<HTMLElement>(selector);
    return element ? [{ element, text }] : [];
  });
  const marked = [...document.querySelectorAll<HTMLElement>("[data-command]")].map((element) => {
    const own = element.getAttribute("aria-label") ?? element.textContent?.trim() ?? "";
    return { element, text: element.dataset.command || own };
  });
  return [...known, ...marked].map(({ element, text }, place) => ({
    id: `action ${place}`,
    text,
    run: () => press(element),
  }));
}

function press(element: HTMLElement): void {
  element.click();
  if (element.tagName !== "SUMMARY") return;
  const menu = element.parentElement?.parentElement?.closest("details");
  if (menu) menu.open = true;
  element.parentElement?.querySelector<HTMLElement>("input:not([type=hidden])")?.focus();
}

export function groupEntries(query: string, actions: PaletteEntry[], found: NamesResponse | undefined): EntryGroup[] {
  const words = splitWords(query);
  const matches = ({ text }: Pick<PaletteEntry, "text">) => words.every((word) => text.toLowerCase().includes(word));
  const sessions = (found?.sessions ?? []).map(({ id, title, project }): PaletteEntry => {
    const text = title || "Untitled session";
    return { id, text, href: `/traces/${id}`, ...(project && { detail: project }) };
  });
  const projects = (found?.projects ?? []).map(
    ({ id, name }): PaletteEntry => ({ id, text: name, href: `/projects/${id}` }),
  );
  const trimmed = query.trim();
  const search: PaletteEntry = {
    id: "search",
    text: `Search every message for “${trimmed}”`,
    href: `/traces?${new URLSearchParams({ q: trimmed })}`,
  };
  return [
    { title: "On this page", items: actions.filter(matches) },
    // May be the answer to an earlier query.
    { title: words.length > 0 ? "Sessions" : "Latest sessions", items: sessions.filter(matches) },
    { title: "Projects", items: projects.filter(matches) },
    { title: "Pages", items: places.map(({ href, name }) => ({ id: href, text: name, href })).filter(matches) },
    { title: "Search", items: trimmed ? [search] : [] },
  ].filter(({ items }) => items.length > 0);
}
