import { formatBytes } from "#lib/transcript/text";
import { formatQuantity } from "../../components/values/figures";
import { formatMoney } from "../../components/values/money";
import { Time } from "../../components/values/time";
import { Name } from "../diagnostics/names";
import { facetTexts } from "../usage/shape";
import { percent } from "../usage/words";
import type { Concerns as Found } from "./news";

const named = 3;

export function Concerns({ concerns }: { concerns: Found }) {
  const { failedUploads, unmasked, worse, silent, budgets, storage } = concerns;
  const all = [
    failedUploads > 0 && (
      <Concern key="uploads" tone="bad" href="/uploads?status=failed">
        {formatQuantity(failedUploads, "upload")} failed. Their sessions are not here yet.
      </Concern>
    ),
    unmasked.certain > 0 && (
      <Concern key="secrets" tone="bad" href="/findings?state=open">
        {formatQuantity(unmasked.certain, "secret")} {unmasked.certain === 1 ? "is" : "are"} not masked.
      </Concern>
    ),
    unmasked.possible > 0 && (
      <Concern key="possible secrets" tone="warn" href="/findings?state=open">
        {formatQuantity(unmasked.possible, "possible secret")} {unmasked.possible === 1 ? "is" : "are"} not masked.
      </Concern>
    ),
    ...worse.slice(0, named).map(({ adapter, latest, verdict }) => (
      <Concern key={`worse ${adapter}`} tone={verdict.change === "broke" ? "bad" : "warn"} href="/diagnostics">
        <Name text={adapter} /> {verdict.change === "broke" ? "is no longer understood" : "is understood less well"} by
        the client <Name text={latest} />.
      </Concern>
    )),
    ...budgets.slice(0, named).map(({ facet, value, name, spentNano, amountNano }) => (
      <Concern key={`budget ${facet} ${value}`} tone={spentNano >= amountNano ? "bad" : "warn"} href="/usage#month">
        {percent(spentNano, amountNano)} of this month's budget
        {facet !== "" && ` for ${facetTexts[facet].title.toLowerCase()} ${name}`}: {formatMoney(spentNano)} of{" "}
        {formatMoney(amountNano)}.
      </Concern>
    )),
    ...silent.slice(0, named).map(({ machine, heardAt }) => (
      <Concern key={`silent ${machine}`} tone="warn" href="/devices">
        <bdi>{machine}</bdi> is silent: last heard <Time at={heardAt.toISOString()} as="ago" />.
      </Concern>
    )),
    silent.length > named && (
      <Concern key="more silent" tone="warn" href="/devices">
        {formatQuantity(silent.length - named, "more machine")} silent.
      </Concern>
    ),
    storage && (
      <Concern key="storage" tone="warn" href="/uploads">
        {formatBytes(storage.used)} of {formatBytes(storage.quota)} are used: uploads that do not fit are refused.
      </Concern>
    ),
  ].filter(Boolean);
  if (all.length === 0) return <p className="text-muted">All clear</p>;
  return <ul className="flex flex-col gap-2">{all}</ul>;
}

type ConcernProps = { tone: "warn" | "bad"; href: string; children: React.ReactNode };

function Concern({ tone, href, children }: ConcernProps) {
  return (
    <li className="flex items-baseline gap-2">
      <span aria-hidden="true" className={`font-semibold ${tone === "bad" ? "text-bad" : "text-warn"}`}>
        !
      </span>
      <a href={href} className="quiet-link target min-w-0 leading-6 [overflow-wrap:anywhere]">
        <span>{children}</span>
      </a>
    </li>
  );
}
