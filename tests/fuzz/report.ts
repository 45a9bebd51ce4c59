import type { Report, Sample } from "./fuzz.ts";

/** What a run did, by class of case. */
export function tableOf({ kinds, jobs, comparedTraces, seconds, violations }: Report): string {
  const sorted = [...kinds].sort(([a], [b]) => a.localeCompare(b));
  const sum = (statuses: Map<number, number>) => [...statuses.values()].reduce((all, one) => all + one, 0);
  const rows = sorted.map(([kind, statuses]) => {
    const shown = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status || "none"}:${count}`);
    return `${kind.padEnd(18)} ${String(sum(statuses)).padStart(7)}  ${shown.join(" ")}`;
  });
  const answers = sorted.reduce((all, [, statuses]) => all + sum(statuses), 0);
  return [
    "",
    `${"class".padEnd(18)} answers  by status`,
    ...rows,
    "",
    `${answers} answers in ${Math.round(seconds)} s, ${violations.length} violations.`,
    `${jobs.taken} batches taken: ${jobs.succeeded} jobs succeeded, ${jobs.failed} failed; ${comparedTraces} stored traces compared.`,
  ].join("\n");
}

const MiB = 2 ** 20;
/** What a process may have grown by from after the warm-up to the end. */
const growthBytes = 64 * MiB;

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

/** Compares memory at 30 to 50 % of the cases (the caches are full then) with that of the last 20 %. */
export function judgeMemory({ memory }: Report): { met: boolean; line: string } {
  const all = memory.at(-1)?.cases ?? 0;
  const between = (from: number, to: number) => memory.filter(({ cases }) => cases >= all * from && cases <= all * to);
  const [early, late] = [between(0.3, 0.5), between(0.8, 1)];
  const results = (["web", "worker"] as const).map((name) => {
    const of = (samples: Sample[]) => median(samples.map((sample) => sample[name]));
    const grown = of(late) - of(early);
    const mib = (bytes: number) => Math.round(bytes / MiB);
    const text = `${name} ${mib(of(early))} → ${mib(of(late))} MiB (most ${mib(Math.max(...memory.map((one) => one[name])))})`;
    return { met: grown <= growthBytes, text };
  });
  const met = results.every((result) => result.met);
  const texts = results.map(({ text }) => text).join(", ");
  return { met, line: `${met ? "✓" : "✗"} memory: ${texts}; must not grow by more than ${growthBytes / MiB} MiB` };
}

const mostHealthMs = 250;

/** How soon `/api/health` answered meanwhile, asked every 50 ms. */
export function judgeHealth({ healthMs }: Report): { met: boolean; line: string } {
  const sorted = healthMs.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  const met = at(0.99) <= mostHealthMs;
  const text = `p50 ${at(0.5).toFixed(1)}, p99 ${at(0.99).toFixed(1)}, most ${at(1).toFixed(1)} ms`;
  return { met, line: `${met ? "✓" : "✗"} /api/health: ${text}; p99 must be at most ${mostHealthMs} ms` };
}
