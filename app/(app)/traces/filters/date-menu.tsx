"use client";
import { Field } from "../../../components/forms/field";
import { type GivenFilters, listHref, without } from "../hrefs";
import { Choice } from "./choices";
import { HiddenFilters, Menu } from "./filter-menu";
import type { DatePreset } from "./filters";

type Props = {
  given: GivenFilters;
  zone: string;
  presets: DatePreset[];
  days: { from?: string | undefined; to?: string | undefined };
};

export function DateMenu({ given, zone, presets, days }: Props) {
  const { from, to } = given;
  const others = without(given, "from", "to");
  return (
    <Menu label="Date" isSet={from !== undefined || to !== undefined} side="right">
      <ul className="py-1">
        {(from !== undefined || to !== undefined) && (
          <li>
            <Choice href={listHref(others)} isChosen={false} text="Any time" />
          </li>
        )}
        {presets.map((preset) => (
          <li key={preset.label}>
            <Choice
              href={listHref({ ...others, from: preset.from })}
              isChosen={from === preset.from && to === undefined}
              text={preset.label}
            />
          </li>
        ))}
      </ul>
      <form method="get" action="/traces" className="flex flex-col gap-3 border-hairline border-t p-3">
        <HiddenFilters given={others} />
        <Field name="from" label="From" type="date" defaultValue={days.from} />
        <Field name="to" label="To, inclusive" type="date" defaultValue={days.to} />
        <button type="submit" className="button">
          Show
        </button>
        <p className="text-meta text-muted">By the last activity, days in {zone}.</p>
      </form>
    </Menu>
  );
}
