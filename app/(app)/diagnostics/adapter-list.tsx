import type { AdapterHealth } from "#lib/telemetry/diagnostics";
import { computeShares } from "#lib/telemetry/health";
import { Notice } from "../../components/notice";
import { Monogram } from "../../components/values/agent-icon";
import { formatCount, formatQuantity } from "../../components/values/figures";
import { Time } from "../../components/values/time";
import { AdapterDetails } from "./adapter-details";
import { Name } from "./names";
import { Badness, formatShare, words } from "./shares";
import { Sparkline } from "./sparkline";

type Props = { adapters: AdapterHealth[]; showUsers: boolean };

export function AdapterList({ adapters, showUsers }: Props) {
  const changed = adapters.filter(({ verdict }) => verdict.change === "broke" || verdict.change === "worse");
  return (
    <>
      {changed.length > 0 && (
        <Notice tone={changed.some(({ verdict }) => verdict.change === "broke") ? "bad" : "warn"}>
          <ul aria-label="What got worse" className="flex flex-col gap-1">
            {changed.slice(0, 5).map((health) => (
              <li key={health.adapter}>
                <Change health={health} />
              </li>
            ))}
          </ul>
          {changed.length > 5 && <p>And {formatQuantity(changed.length - 5, "more adapter")}.</p>}
        </Notice>
      )}
      <div>
        <p
          aria-hidden="true"
          className={`${columns} ml-4 w-[calc(100%-1.5rem)] pb-1 text-meta text-muted max-md:hidden`}
        >
          <span>Adapter</span>
          <span title="Skipped by the client's newest version">Skipped (latest)</span>
          <span title="Skipped by the previous version">Previous version</span>
          <span>Unknown types</span>
          <span>Last scan</span>
          <span title="The worst share of each of the last 30 days">30 days</span>
        </p>
        <ul aria-label="Adapters" className="border-hairline border-t">
          {adapters.map((health) => (
            <li key={health.adapter} className="border-hairline border-b">
              <details>
                <summary className="py-2.5 hover:bg-block">
                  <Row health={health} />
                </summary>
                <AdapterDetails health={health} showUsers={showUsers} />
              </details>
            </li>
          ))}
        </ul>
      </div>
    </>
  );
}

const columns =
  "inline-grid items-center gap-x-4 gap-y-1 md:grid-cols-[minmax(0,1.4fr)_9rem_9rem_minmax(0,1fr)_6rem_7.5rem]";

/** "codex broke with 1.4.2: 80% of the scans found nothing (1.4.1: 0%)." */
function Change({ health: { adapter, versions, verdict } }: { health: AdapterHealth }) {
  const [latest, before] = versions;
  if (!latest || !before) return null;
  const [now, then] = [computeShares(latest)[verdict.about], computeShares(before)[verdict.about]];
  return (
    <>
      <strong className="font-semibold">
        <Name text={adapter} /> {verdict.change === "broke" ? "broke" : "got worse"} with{" "}
        <Name text={latest.cliVersion} />
      </strong>
      : {formatShare(now)} {words[verdict.about]} (<Name text={before.cliVersion} />: {formatShare(then)}).
    </>
  );
}

const changes = { broke: "broke", worse: "worse", better: "better", same: "", first: "" } as const;

function Row({ health: { adapter, versions, verdict, types, trend } }: { health: AdapterHealth }) {
  const [latest, before] = versions;
  if (!latest) return null;
  const [first] = types;
  return (
    <span className={`${columns} w-[calc(100%-1.5rem)] grid-cols-[minmax(0,1fr)_auto] align-middle`}>
      <span className="flex min-w-0 items-center gap-2 font-medium">
        <Monogram source={adapter} />
        <Name text={adapter} />
      </span>
      <span className="max-md:justify-self-end">
        <Labelled name={<Name text={latest.cliVersion} />}>
          <Badness health={latest} />
        </Labelled>
      </span>
      <span className="max-md:hidden">
        {before && (
          <Labelled name={<Name text={before.cliVersion} />}>
            <Badness health={before} />
          </Labelled>
        )}
      </span>
      <span className="min-w-0 text-code text-muted">
        {changes[verdict.change] && <span className="font-medium text-text">{changes[verdict.change]} · </span>}
        {first ? (
          <span title={formatQuantity(first.count, "scan")}>
            <span className="font-mono">
              <Name text={first.type} />
            </span>
            ·{formatCount(first.count)}
          </span>
        ) : (
          "nothing unhandled"
        )}
      </span>
      <span className="text-code text-muted max-md:hidden">
        <Time at={latest.seenAt.toISOString()} as="short" />
      </span>
      <Sparkline trend={trend} />
    </span>
  );
}

function Labelled({ name, children }: { name: React.ReactNode; children: React.ReactNode }) {
  return (
    <span className="flex flex-col max-md:items-end">
      <span className="text-meta text-muted">{name}</span>
      <span className="text-code">{children}</span>
    </span>
  );
}
