import {
  type BudgetMark,
  type BudgetState,
  budgetMark,
  budgetMarks,
  leastDays,
  type MonthSpending,
} from "#lib/usage/month";
import type { UsageReport } from "#lib/usage/report";
import { Form } from "../../components/forms/form";
import { Section } from "../../components/section";
import { formatQuantity } from "../../components/values/figures";
import { formatMoney } from "../../components/values/money";
import { removeBudgetAction, setBudgetAction } from "./budget-actions";
import { facetTexts } from "./shape";
import { dayText, percent } from "./words";

export function MonthSection({ month, report }: { month: MonthSpending; report: UsageReport }) {
  if (month.spentNano === 0 && report.total.costNano === 0 && month.budgets.length === 0) return null;
  return (
    <Section id="month" title={monthName(month.from)}>
      <p className="max-w-[72ch]">
        {formatMoney(month.spentNano)} so far. <Forecast month={month} />
      </p>
      {month.budgets.length > 0 && (
        <ul aria-label="Budgets" className="flex flex-col gap-4">
          {month.budgets.map((budget) => (
            <BudgetRow key={`${budget.facet} ${budget.value}`} budget={budget} />
          ))}
        </ul>
      )}
      <details className="min-w-0">
        <summary className="w-fit text-code text-muted hover:text-text">Set a budget</summary>
        <div className="mt-2 max-w-[28rem] rounded-block border border-hairline bg-block p-3">
          <BudgetForm month={month} report={report} />
        </div>
      </details>
    </Section>
  );
}

const monthFormat = new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", month: "long", year: "numeric" });
const monthName = (day: string) => monthFormat.format(new Date(day));

function Forecast({ month: { fullDays, forecastNano, to } }: { month: MonthSpending }) {
  if (forecastNano === undefined) {
    const left = leastDays - fullDays;
    return left > 0 ? (
      <>
        A forecast needs {formatQuantity(leastDays, "day")}; {left} more.
      </>
    ) : null;
  }
  return (
    <>
      Forecast: {formatMoney(forecastNano)} by {dayText(to)}, from {fullDays} full days.
    </>
  );
}

/** The percentage of the bar's width that is a whole budget. */
const whole = 80;

function BudgetRow({ budget }: { budget: BudgetState }) {
  const { facet, value, name, amountNano, spentNano } = budget;
  const share = spentNano / amountNano;
  const mark = budgetMark(spentNano, amountNano);
  const title = facet === "" ? "Everything" : `${facetTexts[facet].title}: ${name}`;
  const id = `budget-${facet}-${value}`.replaceAll(/[^\w-]/g, "_");
  return (
    <li className="flex max-w-[40rem] flex-col gap-1">
      <p id={id} className="flex flex-wrap items-baseline justify-between gap-x-4">
        <span className="font-medium [overflow-wrap:anywhere]">{title}</span>
        <span className="text-code tabular-nums">
          {formatMoney(spentNano)} of {formatMoney(amountNano)}
        </span>
      </p>
      <Bar share={share} mark={mark} />
      <div className="flex flex-wrap items-center justify-between gap-x-4">
        <State share={share} mark={mark} overNano={spentNano - amountNano} />
        <Form action={removeBudgetAction} hidden={{ facet, value }} submit="Remove" describedBy={id} />
      </div>
    </li>
  );
}

function State({ share, mark, overNano }: { share: number; mark: BudgetMark; overNano: number }) {
  const used = `${percent(share, 1)} used`;
  if (mark === "over")
    return (
      <p className="text-bad text-code">
        ! Over by {formatMoney(overNano)}: {used}
      </p>
    );
  if (mark === "used up") return <p className="text-bad text-code">! Used up</p>;
  if (mark === "nearly") return <p className="text-warn text-code">! {used}</p>;
  return <p className="text-code text-muted">{used}</p>;
}

function Bar({ share, mark }: { share: number; mark: BudgetMark }) {
  const ink = mark === undefined ? "fill-accent" : mark === "nearly" ? "fill-warn" : "fill-bad";
  return (
    <svg aria-hidden="true" className="h-4 w-full">
      <rect y="3" width="100%" height="10" rx="2" className="fill-block" />
      <rect y="3" width={`${Math.min(100, share * whole)}%`} height="10" rx="2" className={ink} />
      {budgetMarks.map((at) => (
        <line key={at} x1={`${at * whole}%`} x2={`${at * whole}%`} y1="0" y2="16" className="stroke-2 stroke-text" />
      ))}
    </svg>
  );
}

function BudgetForm({ month, report }: { month: MonthSpending; report: UsageReport }) {
  const groups = (["project", "source", "model"] as const).map((facet) => {
    const values = (report.byFacet[facet]?.values ?? []).flatMap(({ value, id }) =>
      value === null ? [] : [{ text: value, key: id ?? value }],
    );
    return { facet, values: values.slice(0, 50) };
  });
  return (
    <Form
      action={setBudgetAction}
      submit={month.budgets.length > 0 ? "Set" : "Set budget"}
      after={
        <div className="flex flex-col gap-1">
          <label htmlFor="of" className="font-medium">
            For
          </label>
          <select id="of" name="of" className="input w-full">
            <option value="[&quot;&quot;,&quot;&quot;]">Everything</option>
            {groups.map(
              ({ facet, values }) =>
                values.length > 0 && (
                  <optgroup key={facet} label={facetTexts[facet].title}>
                    {values.map(({ text, key }) => (
                      <option key={key} value={JSON.stringify([facet, key])}>
                        {text}
                      </option>
                    ))}
                  </optgroup>
                ),
            )}
          </select>
        </div>
      }
      fields={[
        {
          ...{ name: "amount", label: "US dollars per month", inputMode: "decimal", autoComplete: "off" },
          hint: "Replaces the current budget.",
        },
      ]}
    />
  );
}
