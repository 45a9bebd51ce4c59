"use client";
import { useEffect, useRef, useState } from "react";
import { goTo } from "./navigation";
import { pages, searchHref } from "./pages";
import { openPalette, useCommandKey } from "./palette/palette-button";

/** `keys` is a `KeyboardEvent.key`, or several in sequence ("g t"). */
export type KeyBinding = { keys: string; does: string; run: () => void };

export type KeyGroup = { title: string; bindings: KeyBinding[] };

const groups: KeyGroup[] = [];

export function addKeys(group: KeyGroup): () => void {
  groups.push(group);
  return () => {
    groups.splice(groups.indexOf(group), 1);
  };
}

export function knownKeys(): KeyGroup[] {
  return groups.toReversed();
}

/** @param before the unfinished sequence, separated by spaces */
export function readKey(before: string, key: string): { binding?: KeyBinding; begun: string } {
  const sequence = before === "" ? key : `${before} ${key}`;
  const bindings = knownKeys().flatMap((group) => group.bindings);
  const binding = bindings.find(({ keys }) => keys === sequence);
  if (binding) return { binding, begun: "" };
  if (bindings.some(({ keys }) => keys.startsWith(`${sequence} `))) return { begun: sequence };
  return before === "" ? { begun: "" } : readKey("", key);
}

const sequenceMs = 1500;

/** `?` lists the shortcuts under `title`. They are off in fields and dialogs. */
export function useKeys(title: string, bindings: KeyBinding[]): void {
  const latest = useRef(bindings);
  latest.current = bindings;
  const names = JSON.stringify(bindings.map(({ keys, does }) => [keys, does]));
  useEffect(() => {
    const named = JSON.parse(names) as [string, string][];
    const run = (keys: string) => latest.current.find((binding) => binding.keys === keys)?.run();
    return addKeys({ title, bindings: named.map(([keys, does]) => ({ keys, does, run: () => run(keys) })) });
  }, [title, names]);
}

export function Keys() {
  const command = useCommandKey();
  const own = [
    { keys: `${command} K`, does: "Go to a page, project or session", run: openPalette },
    { keys: "/", does: "Search", run: focusSearch },
    ...pages.map(({ href, name, key }) => ({ keys: `g ${key}`, does: name, run: () => goTo(href) })),
  ];
  return (
    <KeyHelp own={own} isOn>
      <a href="/settings#keys" className="link">
        Turn shortcuts off
      </a>
    </KeyHelp>
  );
}

/** Without an account there are no settings, so the list of shortcuts has the switch. */
export function GuestKeys({ isOn: wasOn }: { isOn: boolean }) {
  const [isOn, setOn] = useState(wasOn);
  const toggle = () => {
    const secure = location.protocol === "https:" ? "; secure" : "";
    // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API does not exist over plain http
    document.cookie = `spoor_keys=${isOn ? "off" : "on"}; path=/; max-age=31536000; samesite=lax${secure}`;
    setOn(!isOn);
  };
  return (
    <KeyHelp own={[]} isOn={isOn}>
      <button type="button" onClick={toggle} className="link">
        Turn shortcuts {isOn ? "off" : "on"}
      </button>
    </KeyHelp>
  );
}

type HelpProps = { own: KeyBinding[]; isOn: boolean; children: React.ReactNode };

function KeyHelp({ own, isOn, children }: HelpProps) {
  const help = useRef<HTMLDialogElement>(null);
  const [groups, setGroups] = useState<KeyGroup[]>([]);
  const showHelp = () => {
    setGroups(knownKeys());
    help.current?.showModal();
  };
  useKeys("Everywhere", [
    ...own,
    { keys: "Escape", does: "Close menus", run: closeMenus },
    { keys: "?", does: "Show these keys", run: showHelp },
  ]);
  useEffect(() => (isOn ? listen() : undefined), [isOn]);
  return (
    <dialog
      ref={help}
      aria-labelledby="keys-title"
      className="m-auto max-h-[85dvh] w-[min(40rem,calc(100vw-2rem))] overflow-y-auto rounded-dialog border border-hairline bg-overlay p-5 text-text shadow-lg backdrop:bg-black/40"
    >
      <div className="flex items-center justify-between gap-4 pb-3">
        <h2 id="keys-title" className="font-semibold text-section">
          Keys
        </h2>
        <form method="dialog">
          <button type="submit" className="button">
            Close
          </button>
        </form>
      </div>
      <div className="grid gap-x-10 gap-y-5 sm:grid-cols-2">
        {groups.map((group) => (
          <KeyTable key={group.title} group={group} />
        ))}
      </div>
      <p className="pt-4 text-muted">{children}</p>
    </dialog>
  );
}

function KeyTable({ group: { title, bindings } }: { group: KeyGroup }) {
  return (
    <section>
      <h3 className="pb-1 font-medium">{title}</h3>
      <dl className="grid grid-cols-[5rem_1fr] gap-y-1">
        {bindings.map(({ keys, does }) => (
          <div key={keys} className="col-span-2 grid grid-cols-subgrid items-baseline">
            <dt className="flex gap-1">
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key === "Escape" ? "Esc" : key}</kbd>
              ))}
            </dt>
            <dd className="text-muted">{does}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function listen(): () => void {
  let begun = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onKey = (event: KeyboardEvent) => {
    if (!isForUs(event)) return;
    const read = readKey(begun, event.key);
    clearTimeout(timer);
    begun = read.begun;
    timer = setTimeout(() => {
      begun = "";
    }, sequenceMs);
    if (read.binding) event.preventDefault();
    read.binding?.run();
  };
  // On the window, so that a page's own listeners come first.
  window.addEventListener("keydown", onKey);
  return () => window.removeEventListener("keydown", onKey);
}

export function KeysButton() {
  return (
    <button type="button" onClick={() => readKey("", "?").binding?.run()} className="link w-fit needs-script">
      Shortcuts
    </button>
  );
}

const typing = "input:not([type=checkbox], [type=radio], [type=submit], [type=button]), textarea, select";

function isForUs(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return false;
  if (["Shift", "CapsLock"].includes(event.key) || document.querySelector("dialog[open], [role=dialog]")) return false;
  const target = event.target instanceof HTMLElement ? event.target : undefined;
  if (event.key === "Enter" || event.key === " ")
    return !target?.closest("a, button, summary, input, select, textarea");
  const writes = target?.isContentEditable || target?.matches(typing);
  return !writes || event.key === "Escape";
}

function focusSearch(): void {
  const field = document.querySelector<HTMLInputElement>("main input[type=search]");
  if (!field) goTo(searchHref);
  field?.focus();
  field?.select();
}

function closeMenus(): void {
  const open = [...document.querySelectorAll<HTMLDetailsElement>("details[data-menu][open]")].at(-1);
  if (open) {
    open.open = false;
    open.querySelector("summary")?.focus();
  } else if (document.activeElement instanceof HTMLInputElement) {
    document.activeElement.blur();
  }
}
