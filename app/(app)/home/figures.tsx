import type { Digest, Digests } from "#lib/usage/digest";
import { notYet } from "../../components/values/counting";
import { formatCount } from "../../components/values/figures";
import { formatMoney } from "../../components/values/money";
import { usageRangeHref } from "../usage/range";
import { dayText } from "../usage/words";
import { timeText } from "./words";

/** @param due number of sessions not counted yet */
export function Figures({ digests, due }: { digests: Digests; due: number }) {
  const { today, yesterday, week, weekBefore, days } = digests;
  const [first, last, monday] = [days[0]?.day ?? "", days.at(-1)?.day ?? "", days[7]?.day ?? ""];
  const rows: [name: string, digest: Digest, from: string, to: string, isBefore?: true][] = [
    ["Today", today, last, last],
    ["Yesterday", yesterday, days.at(-2)?.day ?? last, days.at(-2)?.day ?? last, true],
    ["This week", week, monday, last],
    ["Last week", weekBefore, first, days[6]?.day ?? first, true],
  ];
  return (
    <table className="w-full text-right tabular-nums">
      <thead className="text-meta text-muted">
        <tr>
          <td />
          <th scope="col" className="font-normal">
            Sessions
          </th>
          <th scope="col" className="font-normal" title="Without pauses of more than five minutes">
            Time
          </th>
          <th scope="col" className="font-normal">
            Cost
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, { sessions, seconds, costNano }, from, to, isBefore]) => (
          <tr key={name} className={isBefore ? "text-code text-muted *:pb-2" : "font-semibold *:pt-1"}>
            <th scope="row" className={`text-left ${isBefore ? "font-normal" : "font-semibold"}`}>
              <a href={usageRangeHref(from, to)} className="quiet-link target inline-block leading-6">
                {name}
              </a>
            </th>
            <td>{sessions === 0 && due > 0 && !isBefore ? notYet(due) : formatCount(sessions)}</td>
            <td>{seconds === 0 ? notYet(isBefore ? 0 : due) : timeText(seconds)}</td>
            <td>{costNano === 0 ? notYet(isBefore ? 0 : due) : formatMoney(costNano)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function Days({ days }: Pick<Digests, "days">) {
  const hasCost = days.some(({ costNano }) => costNano > 0);
  const amounts = days.map(({ costNano, messages }) => (hasCost ? costNano : messages));
  const top = Math.max(1, ...amounts);
  const most = days[amounts.indexOf(Math.max(...amounts))];
  const formatDayAmount = (amount: number) => (hasCost ? formatMoney(amount) : `${formatCount(amount)} messages`);
  if (!most || Math.max(...amounts) === 0) return null;
  const slot = 100 / 14;
  return (
    <figure className="flex flex-col gap-1">
      <svg role="img" aria-label="Day by day, last week and this week" className="h-14 w-full">
        {days.map(({ day }, place) => {
          const amount = amounts[place] ?? 0;
          const height = amount === 0 ? 1.5 : Math.max(4, (100 * amount) / top);
          return (
            <rect
              key={day}
              x={`${slot * place + slot * 0.1}%`}
              width={`${slot * 0.8}%`}
              y={`${100 - height}%`}
              height={`${height}%`}
              rx="2"
              className={place < 7 ? "fill-edge" : "fill-accent"}
            >
              <title>{`${dayText(day)}: ${formatDayAmount(amount)}`}</title>
            </rect>
          );
        })}
      </svg>
      <figcaption className="flex justify-between text-meta text-muted">
        <span>{dayText(days[0]?.day ?? "")}</span>
        <span>
          Peak: {formatDayAmount(Math.max(...amounts))} ({dayText(most.day)})
        </span>
      </figcaption>
    </figure>
  );
}
