/** What scans saw, in all. */
export type ScanSums = {
  scans: number;
  entries: number;
  skipped: number;
  invalid: number;
  traces: number;
  rejected: number;
  emptyParses: number;
};

/** What the scans of one adapter in one CLI version saw, over the days that are looked at. */
export type VersionHealth = ScanSums & { cliVersion: string; seenAt: Date };

/** What can go wrong with a scan, each as a share from 0 to 1. */
export type Shares = { empty: number; lost: number; rejected: number };

/** `lost`: entries skipped or invalid; `rejected`: traces refused; `empty`: scans that found nothing. */
export function sharesOf({ scans, entries, skipped, invalid, traces, rejected, emptyParses }: VersionHealth): Shares {
  return {
    empty: share(emptyParses, scans),
    lost: share(skipped + invalid, entries),
    rejected: share(rejected, traces + rejected),
  };
}

/** A client may count what it likes, so that a part can be more than the whole. */
export const share = (part: number, whole: number) => (part === 0 ? 0 : whole <= part ? 1 : part / whole);

export const worstOf = ({ empty, lost, rejected }: Shares) => Math.max(empty, lost, rejected);

/** How an adapter does in its newest CLI version, and against the one before. */
export type Verdict = {
  change: "broke" | "worse" | "better" | "same" | "first";
  /** What the change is about: the share that grew most, or fell most. */
  about: keyof Shares;
};

/** From these differences on a change is told: half of everything is broken, half a percent is worse. */
const steps = { broke: 0.5, worse: 0.005, factor: 1.5 };

export function judge(latest: VersionHealth, before: VersionHealth | undefined): Verdict {
  const now = sharesOf(latest);
  const kinds = ["empty", "lost", "rejected"] as const;
  if (!before) return { change: "first", about: kinds.reduce((a, b) => (now[b] > now[a] ? b : a)) };
  const then = sharesOf(before);
  const rise = (kind: keyof Shares) => now[kind] - then[kind];
  const risen = kinds.reduce((a, b) => (rise(b) > rise(a) ? b : a));
  const fallen = kinds.reduce((a, b) => (rise(b) < rise(a) ? b : a));
  if (rise(risen) >= steps.broke) return { change: "broke", about: risen };
  if (rise(risen) >= steps.worse && now[risen] >= then[risen] * steps.factor) return { change: "worse", about: risen };
  if (-rise(fallen) >= steps.worse && then[fallen] >= now[fallen] * steps.factor)
    return { change: "better", about: fallen };
  return { change: "same", about: kinds.reduce((a, b) => (now[b] > now[a] ? b : a)) };
}

/**
 * The order of versions, oldest first: numbers by their value, a pre-release before its release (Semantic Versioning, 11),
 * and what is no version before all that are.
 */
export function compareVersions(a: string, b: string): number {
  const [first, second] = [partsOf(a), partsOf(b)];
  if (!first || !second) return first ? 1 : second ? -1 : text.compare(a, b);
  for (let at = 0; at < Math.max(first.numbers.length, second.numbers.length); at += 1) {
    const difference = (first.numbers[at] ?? 0) - (second.numbers[at] ?? 0);
    if (difference !== 0) return difference;
  }
  if (!first.pre || !second.pre) return first.pre ? -1 : second.pre ? 1 : text.compare(a, b);
  return text.compare(first.pre, second.pre);
}

const text = new Intl.Collator("en", { numeric: true });

function partsOf(version: string): { numbers: number[]; pre: string } | undefined {
  const [, numbers, pre = ""] = /^v?(\d+(?:\.\d+)*)(?:-([^+]*))?(?:\+.*)?$/.exec(version) ?? [];
  return numbers === undefined ? undefined : { numbers: numbers.split(".").map(Number), pre };
}
