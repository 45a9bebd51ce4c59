import semver from "semver";

export type ScanSums = {
  scans: number;
  entries: number;
  skipped: number;
  invalid: number;
  traces: number;
  rejected: number;
  emptyParses: number;
};

export type VersionHealth = ScanSums & { cliVersion: string; seenAt: Date };

export type ScanShares = { empty: number; lost: number; rejected: number };

/**
 * `lost` are entries that could not be read, without skipped ones; `rejected` are refused traces; `empty` are scans
 * that found nothing.
 */
export function computeShares({ scans, entries, invalid, traces, rejected, emptyParses }: ScanSums): ScanShares {
  return {
    empty: share(emptyParses, scans),
    lost: share(invalid, entries),
    rejected: share(rejected, traces + rejected),
  };
}

/** Clients may report a part that exceeds its whole. */
export const share = (part: number, whole: number) => (part === 0 ? 0 : whole <= part ? 1 : part / whole);

export const findWorst = ({ empty, lost, rejected }: ScanShares) => Math.max(empty, lost, rejected);

export type HealthVerdict = {
  change: "broke" | "worse" | "better" | "same" | "first";
  about: keyof ScanShares;
};

/**
 * `broke` is the smallest rise that counts as broken, the others the smallest change that counts as worse or better.
 */
const steps = { broke: 0.5, worse: 0.005, factor: 1.5 };

export function judge(latest: VersionHealth, before: VersionHealth | undefined): HealthVerdict {
  const now = computeShares(latest);
  const kinds = ["empty", "lost", "rejected"] as const;
  if (!before) return { change: "first", about: kinds.reduce((a, b) => (now[b] > now[a] ? b : a)) };
  const then = computeShares(before);
  const rise = (kind: keyof ScanShares) => now[kind] - then[kind];
  const risen = kinds.reduce((a, b) => (rise(b) > rise(a) ? b : a));
  const fallen = kinds.reduce((a, b) => (rise(b) < rise(a) ? b : a));
  if (rise(risen) >= steps.broke) return { change: "broke", about: risen };
  if (rise(risen) >= steps.worse && now[risen] >= then[risen] * steps.factor) return { change: "worse", about: risen };
  if (-rise(fallen) >= steps.worse && then[fallen] >= now[fallen] * steps.factor)
    return { change: "better", about: fallen };
  return { change: "same", about: kinds.reduce((a, b) => (now[b] > now[a] ? b : a)) };
}

/** Semantic Versioning, section 11; text that is not a version sorts first. */
export function compareVersions(a: string, b: string): number {
  const [first, second] = [parseVersion(a), parseVersion(b)];
  if (!first || !second) return first ? 1 : second ? -1 : text.compare(a, b);
  return semver.compare(first, second) || text.compare(a, b);
}

const text = new Intl.Collator("en", { numeric: true });

const parseVersion = (version: string) =>
  /^v?\d/.test(version) ? semver.coerce(version, { includePrerelease: true }) : null;
