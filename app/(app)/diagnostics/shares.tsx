import { computeShares, findWorst, type ScanShares, type VersionHealth } from "#lib/telemetry/health";
import { Sign } from "../../components/sign";

const percent = new Intl.NumberFormat("en", { style: "percent", maximumSignificantDigits: 2 });

/** "0.1%", "34%"; never 0% or 100% unless exact. */
export function formatShare(share: number): string {
  if (share > 0 && share < 0.0001) return "<0.01%";
  return share > 0.99 && share < 1 ? ">99%" : percent.format(share);
}

export const words = {
  empty: "of the scans found nothing",
  lost: "of the entries could not be read",
  rejected: "of the sessions were refused",
} as const satisfies Record<keyof ScanShares, string>;

const kinds = Object.keys(words) as (keyof ScanShares)[];

const bounds = { warn: 0.01, bad: 0.1 };

export const getShareInk = (share: number) =>
  share >= bounds.bad ? "text-bad" : share >= bounds.warn ? "text-warn" : "text-ok";

export function Badness({ health }: { health: VersionHealth }) {
  const shares = computeShares(health);
  const worst = findWorst(shares);
  const kind = kinds.find((one) => shares[one] === worst) ?? "lost";
  const short = { empty: "empty", lost: "lost", rejected: "refused" }[kind];
  return (
    <span
      className={`inline-flex items-center gap-1 whitespace-nowrap ${getShareInk(worst)}`}
      title={`${formatShare(worst)} ${words[kind]}`}
    >
      {worst >= bounds.bad && <Sign name="cross" />}
      {worst >= bounds.warn && worst < bounds.bad && (
        <span aria-hidden="true" className="font-semibold">
          !
        </span>
      )}
      {worst < bounds.warn && <Sign name="check" />}
      <span>
        {formatShare(worst)} {worst > 0 && <span className="text-muted">{short}</span>}
      </span>
    </span>
  );
}
