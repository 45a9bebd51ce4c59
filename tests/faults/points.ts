import type { Bench } from "./fault.ts";
import type { SpoorProcess } from "./process.ts";

/** Counts the points that a process passes, by letting it pass all of them once. */
export function countPoints(one: SpoorProcess): number {
  return Math.max(...[...one.output.matchAll(/^fault: point (\d+)/gm)].map(([, point]) => Number(point)));
}

/** The points of one job, up to the one at which its entry in the queue is completed, with each statement's beginning. */
export function findPointsOfJob(worker: SpoorProcess): { point: number; label: string }[] {
  const passed = [...worker.output.matchAll(/^fault: point (\d+), (?:behind )?"(.*)"/gm)].map(
    ([, point, label = ""]) => ({
      point: Number(point),
      label,
    }),
  );
  const end = passed.findIndex(({ label }) => label.startsWith("WITH results AS ( UPDATE pgboss.job"));
  if (end < 0) throw new Error("The job's entry in the queue was not completed");
  return passed.slice(0, end + 1);
}

/** Every point, or in the quick run a few picked by the seed, including the last ones (around the commit). */
export function choosePoints(bench: Bench, count: number, few: number): number[] {
  const all = Array.from({ length: count }, (_, at) => at + 1);
  if (!bench.quick) return all;
  const last = all.slice(-4);
  const rest = all.slice(0, -4);
  while (rest.length > few - last.length) rest.splice(bench.pick(rest.length), 1);
  return [...rest, ...last];
}
