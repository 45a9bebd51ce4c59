"use client";
import { useEffect, useState } from "react";
import type { CountedName } from "#lib/search/schema";
import type { FacetValues } from "#lib/traces/schema";
import { Sign } from "../../../components/sign";
import { type GivenFilters, getFilterLabel, listFilterEntries, without } from "../hrefs";
import { Choices, listFilterNames, toFilterOptions } from "./choices";
import { MenuValues } from "./menu-values";

type Props = {
  name: CountedName;
  given: GivenFilters;
  query: string;
  values: FacetValues | undefined;
};

const capitalize = (name: string) => name.slice(0, 1).toUpperCase() + name.slice(1);

/** A client component, so that its markup is sent only once. */
export function FilterMenu(props: Props) {
  const { name, given } = props;
  return (
    <Menu
      label={capitalize(name)}
      isSet={listFilterNames(name).some((filter) => given[filter] !== undefined)}
      side="left"
    >
      <FilterValues {...props} />
    </Menu>
  );
}

export function FilterValues({ name, given, query, values }: Props) {
  return (
    <>
      <ExactForm name={name} label={`Find ${getFilterLabel(name)}`} given={without(given, ...listFilterNames(name))} />
      {values ? (
        <Choices name={name} given={given} options={toFilterOptions(name, values)} />
      ) : (
        <MenuValues name={name} given={given} query={query} />
      )}
    </>
  );
}

type ExactProps = { name: string; label: string; given: GivenFilters; pattern?: string; title?: string };

export function ExactForm({ label, given, ...input }: ExactProps) {
  return (
    <form method="get" action="/traces" className="flex gap-2 p-3">
      <HiddenFilters given={given} />
      <input
        {...input}
        aria-label={label}
        placeholder={label}
        required
        autoComplete="off"
        className="input min-w-0 grow"
      />
      <button type="submit" className="button">
        Show
      </button>
    </form>
  );
}

type MenuProps = { label: string; isSet: boolean; side: "left" | "right"; children: React.ReactNode };

export function Menu({ label, isSet, side, children }: MenuProps) {
  return (
    <details name="filter" data-menu className="max-sm:open:w-full sm:relative">
      <summary className={`button list-none gap-1 font-normal ${isSet ? "border-accent bg-tint" : ""}`}>
        {label}
        {isSet && <span className="sr-only">, set</span>}
        <Sign name="down" />
      </summary>
      <div className={`menu-panel ${side === "left" ? "sm:left-0" : "sm:right-0"}`}>{children}</div>
    </details>
  );
}

export function HiddenFilters({ given }: { given: GivenFilters }) {
  return listFilterEntries(given).map(([name, value]) => (
    <input key={`${name} ${value}`} type="hidden" name={name} value={value} />
  ));
}

export function FilterSwitch({ count, controls }: { count: number; controls: string }) {
  const [isOpen, setOpen] = useState(false);
  const toggle = () => {
    document.getElementById(controls)?.toggleAttribute("data-open", !isOpen);
    setOpen(!isOpen);
  };
  return (
    <button
      type="button"
      onClick={toggle}
      aria-expanded={isOpen}
      aria-controls={controls}
      className="button sm:hidden noscript:hidden"
    >
      Filter{count > 0 && `·${count}`}
    </button>
  );
}

export function MenuCloser() {
  useEffect(() => {
    const opened = () => document.querySelector<HTMLDetailsElement>("details[data-menu][name=filter][open]");
    const onPointer = ({ target }: PointerEvent) => {
      const menu = opened();
      if (menu && !(target instanceof Node && menu.contains(target))) menu.open = false;
    };
    const onKey = ({ key }: KeyboardEvent) => {
      const menu = key === "Escape" ? opened() : null;
      if (!menu) return;
      menu.open = false;
      menu.querySelector("summary")?.focus();
    };
    document.addEventListener("pointerdown", onPointer);
    document.addEventListener("keydown", onKey);
    return () => {
      document.removeEventListener("pointerdown", onPointer);
      document.removeEventListener("keydown", onKey);
    };
  }, []);
  return null;
}
