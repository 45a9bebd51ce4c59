import type { Report } from "./fuzz.ts";

/** The results of a run, by class of case. */
export function toTable({ kinds, jobs, comparedTraces, seconds, violations }: Report): string {
  const sorted = [...kinds].sort(([a], [b]) => a.localeCompare(b));
  const sum = (statuses: Map<number, number>) => [...statuses.values()].reduce((all, one) => all + one, 0);
  const rows = sorted.map(([kind, statuses]) => {
    const shown = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status || "none"}:${count}`);
    return `${kind.padEnd(18)} ${String(sum(statuses)).padStart(9)}  ${shown.join(" ")}`;
  });
  const answers = sorted.reduce((all, [, statuses]) => all + sum(statuses), 0);
  return [
    "",
    `${"class".padEnd(18)} responses  by status`,
    ...rows,
    "",
    `${answers} responses in ${Math.round(seconds)} s, ${violations.length} violations.`,
    `${jobs.taken} batches accepted: ${jobs.succeeded} jobs succeeded, ${jobs.failed} failed; ${comparedTraces} stored traces compared.`,
  ].join("\n");
}

const MiB = 2 ** 20;
const mib = (bytes: number) => Math.round(bytes / MiB);
/** How much a process's main thread may grow after the first 10,000 cases (or the first fifth). */
const growthBytes = 24 * MiB;
/** The maximum resident memory of a process, most of which is garbage that V8 had no reason to collect. */
const maxResidentBytes = 1536 * MiB;

/** Compares the processes' memory after full garbage collections, and bounds the resident memory in between. */
export function judgeMemory({ memory, live }: Report): { met: boolean; line: string } {
  const [early, late] = [live[0], live.at(-1)];
  const results = (["web", "worker"] as const).map((name) => {
    const [before, after] = [early?.[name] ?? 0, late?.[name] ?? 0];
    const max = Math.max(...memory.map((sample) => sample[name]));
    const met = before > 0 && after - before <= growthBytes && max <= maxResidentBytes;
    return { met, text: `${name} holds ${mib(before)}, then ${mib(after)} MiB (resident at most ${mib(max)})` };
  });
  const met = results.every((result) => result.met);
  const texts = results.map(({ text }) => text).join(", ");
  const bounds = `at most ${mib(growthBytes)} MiB more, resident ${mib(maxResidentBytes)} MiB`;
  return { met, line: `${met ? "✓" : "✗"} memory: ${texts}; must be ${bounds}` };
}

const maxHealthMs = 250;

/** The latency of `/api/health` during the run, requested every 50 ms. */
export function judgeHealth({ healthMs }: Report): { met: boolean; line: string } {
  const sorted = healthMs.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  const met = at(0.99) <= maxHealthMs;
  const text = `p50 ${at(0.5).toFixed(1)}, p99 ${at(0.99).toFixed(1)}, max ${at(1).toFixed(1)} ms`;
  return { met, line: `${met ? "✓" : "✗"} /api/health: ${text}; p99 must be at most ${maxHealthMs} ms` };
}
