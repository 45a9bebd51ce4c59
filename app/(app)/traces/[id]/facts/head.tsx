import type { Trace } from "#lib/traces/queries";
import type { ModelUse } from "#lib/traces/usage";
import { formatMilliseconds } from "../../../../components/values/date-format";
import { formatCompact, formatCount, formatQuantity } from "../../../../components/values/figures";
import { Time } from "../../../../components/values/time";
import { countTokens, describeCost, describeTokens, formatCost } from "../../list/spent";

export function HeadFigures({ trace, models }: { trace: Trace; models: ModelUse[] }) {
  const remarks = [...describeTiers(models), ...describeCost(trace)];
  return (
    <>
      <dl className="head-figures">
        <Figure name="Time" title="Without pauses of more than five minutes">
          {trace.activeSeconds > 0 ? formatMilliseconds(trace.activeSeconds * 1000) : <None />}
          <small>
            <Span trace={trace} />
          </small>
        </Figure>
        <Cost trace={trace} />
        <Changed trace={trace} />
        <Failed trace={trace} />
      </dl>
      {remarks.length > 0 && <p className="text-meta text-muted">{remarks.join(" · ")}</p>}
    </>
  );
}

type FigureProps = { name: string; title?: string | undefined; children: React.ReactNode };

const Figure = ({ name, title, children }: FigureProps) => (
  <div title={title}>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

const None = () => <span className="font-normal text-muted">none</span>;

function Span({ trace: { createdAt: from, updatedAt: to, dated } }: { trace: Trace }) {
  if (!dated) return "no date";
  return (
    <>
      {from && from < to && (
        <>
          <Time at={from} as="moment" /> –{" "}
        </>
      )}
      <Time at={to} as="moment" />
    </>
  );
}

function Cost({ trace }: { trace: Trace }) {
  const tokens = countTokens(trace);
  return (
    <Figure name="Cost" title={tokens > 0 ? `By list prices; ${describeTokens(trace)}` : undefined}>
      {formatCost(trace) ?? <span className="font-normal text-muted">unknown</span>}
      {tokens > 0 && <small>{formatCompact(tokens)} tokens</small>}
    </Figure>
  );
}

function Changed({ trace: { id, linesAdded, linesRemoved, filesChanged } }: { trace: Trace }) {
  return (
    <Figure name="Changes">
      {filesChanged > 0 ? (
        <a href={`/traces/${id}/changes`} className="quiet-link">
          <span className="text-ok">+{formatCompact(linesAdded)}</span>{" "}
          <span className="text-bad">−{formatCompact(linesRemoved)}</span>
        </a>
      ) : (
        <None />
      )}
      {filesChanged > 0 && <small>in {formatQuantity(filesChanged, "file")}</small>}
    </Figure>
  );
}

function Failed({ trace: { errorCount, callCount } }: { trace: Trace }) {
  return (
    <Figure name="Errors">
      {errorCount > 0 ? <span className="text-bad">{formatCount(errorCount)}</span> : <None />}
      {callCount > 0 && <small>in {formatQuantity(callCount, "call")}</small>}
    </Figure>
  );
}

const describeTiers = (models: ModelUse[]): string[] =>
  [...new Set(models.flatMap(({ tiersNotPriced }) => tiersNotPriced))].map((tier) => `tier “${tier}” not priced`);

type TitleProps = { text: string; whole?: string | null };

export function Title({ text, whole }: TitleProps) {
  return (
    <h1 title={whole || text} data-title="">
      {text}
    </h1>
  );
}
