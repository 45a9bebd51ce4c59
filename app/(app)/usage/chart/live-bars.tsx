"use client";
import { Toolbar } from "@base-ui/react/toolbar";
import { Tooltip } from "@base-ui/react/tooltip";
import { useState } from "react";
import { type Column, Swatch } from "./bars";

/** The share of its slot that a bar leaves free. */
const gap = 0.15;

type Props = { columns: Column[]; names: string[]; fills: string[]; top: number };

export function LiveBars({ columns, names, fills, top }: Props) {
  const [tip] = useState(() => Tooltip.createHandle<Column>());
  const width = 100 / columns.length;
  return (
    <Toolbar.Root aria-label="Bars by day">
      <svg role="presentation" className="absolute inset-0 size-full">
        <HatchPattern />
        {columns.map((column, index) => (
          <Tooltip.Trigger
            key={column.label}
            handle={tip}
            payload={column}
            delay={0}
            closeOnClick={false}
            render={<g className="group" />}
          >
            <rect
              x={`${width * index}%`}
              width={`${width}%`}
              height="100%"
              className="fill-transparent group-hover:fill-text/10"
            />
            <Parts {...{ column, names, fills, top }} x={width * (index + gap / 2)} width={width * (1 - gap)} />
          </Tooltip.Trigger>
        ))}
      </svg>
      <Tooltip.Root handle={tip}>
        {({ payload }) => (
          <Tooltip.Portal>
            <Tooltip.Positioner side="right" sideOffset={8}>
              <Tooltip.Popup>{payload && <Tip column={payload} names={names} fills={fills} />}</Tooltip.Popup>
            </Tooltip.Positioner>
          </Tooltip.Portal>
        )}
      </Tooltip.Root>
    </Toolbar.Root>
  );
}

type PartsProps = Omit<Props, "columns"> & { column: Column; x: number; width: number };

/** A line in the page's colour separates the parts. */
function Parts({ column: { label, amounts, texts, hrefs, unfinished }, names, fills, top, x, width }: PartsProps) {
  let below = 0;
  return names.map((name, place) => {
    const amount = amounts[place] ?? 0;
    if (amount === 0) return null;
    below += amount;
    const box = {
      ...{ x: `${x}%`, y: `${100 - (100 * below) / top}%` },
      ...{ width: `${width}%`, height: `${(100 * amount) / top}%` },
    };
    return (
      <Toolbar.Link
        key={name}
        href={hrefs[place]}
        aria-label={`${label}, ${name}: ${texts[place]}`}
        className="hover:opacity-80"
      >
        <rect {...box} className={`${fills[place]} stroke-1 stroke-page`} />
        {unfinished && <rect {...box} fill="url(#hatch)" />}
      </Toolbar.Link>
    );
  });
}

function HatchPattern() {
  return (
    <defs>
      <pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect width="2.5" height="6" className="fill-page" />
      </pattern>
    </defs>
  );
}

type TipProps = Pick<Props, "names" | "fills"> & { column: Column };

function Tip({ column: { label, total, texts, amounts }, names, fills }: TipProps) {
  return (
    <div className="rounded-block border border-hairline bg-overlay px-3 py-2 text-code text-text shadow-lg">
      <p className="pb-1 font-medium">{label}</p>
      <ul className="flex flex-col-reverse">
        {names.map((name, place) => {
          if (!amounts[place]) return null;
          return (
            <li key={name} className="flex items-center gap-1.5">
              <Swatch fill={fills[place] ?? ""} />
              <span className="max-w-48 truncate">{name}</span>
              <span className="ml-auto pl-4">{texts[place]}</span>
            </li>
          );
        })}
      </ul>
      <p className="pt-1 text-muted">{total}</p>
    </div>
  );
}
