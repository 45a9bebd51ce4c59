"use client";
import { useEffect } from "react";
import { Bar, BarChart, ResponsiveContainer, Tooltip, XAxis, YAxis } from "recharts";
import { type Column, gap, HatchPattern, Part, Swatch } from "./bars";

type Props = { columns: Column[]; names: string[]; top: number; onDrawn: () => void };

/** The bars with a tooltip; the arrow keys move from one to the next. */
export function RechartsBars({ columns, names, top, onDrawn }: Props) {
  return (
    <div className="absolute inset-0">
      <ResponsiveContainer width="100%" height="100%">
        <BarChart
          data={columns}
          margin={{ top: 0, right: 0, bottom: 0, left: 0 }}
          barCategoryGap={`${(gap / 2) * 100}%`}
          title="Bars by day"
        >
          <HatchPattern />
          <XAxis dataKey="label" hide />
          <YAxis domain={[0, top]} hide />
          <Tooltip
            isAnimationActive={false}
            cursor={{ className: "fill-text opacity-10", fill: undefined }}
            content={({ active, payload }) => {
              const column: Column | undefined = payload?.[0]?.payload;
              return active && column ? <Tip column={column} names={names} /> : null;
            }}
          />
          {names.map((name, place) => (
            <Bar
              key={name}
              name={name}
              dataKey={(column: Column) => column.amounts[place]}
              stackId="all"
              isAnimationActive={false}
              shape={({ x, y, width, height, payload }) => {
                const { label, texts, unfinished, hrefs } = payload as Column;
                if (!height) return <g />;
                const said = `${label}, ${name}: ${texts[place]}`;
                const part = { place, unfinished, href: hrefs[place] ?? "", label: said, x, y, width, height };
                return <DrawnPart part={part} onDrawn={onDrawn} />;
              }}
            />
          ))}
        </BarChart>
      </ResponsiveContainer>
    </div>
  );
}

/** Reports when the bars are drawn, which is some time after the library is mounted. */
function DrawnPart({ part, onDrawn }: { part: React.ComponentProps<typeof Part>; onDrawn: () => void }) {
  useEffect(onDrawn, [onDrawn]);
  return <Part {...part} />;
}

function Tip({ column: { label, total, texts, amounts }, names }: { column: Column; names: string[] }) {
  return (
    <div className="rounded-block border border-hairline bg-overlay px-3 py-2 text-code text-text shadow-lg">
      <p className="pb-1 font-medium">{label}</p>
      <ul className="flex flex-col-reverse">
        {names.map((name, place) => {
          if (!amounts[place]) return null;
          return (
            <li key={name} className="flex items-center gap-1.5">
              <Swatch place={place} />
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
