import type { Column } from "./terminal.ts";

/** Columns with the lowest `leavesAt` are dropped first. */
export type FittedColumn = Column & { shrinks?: boolean; leavesAt?: number };

const minCut = 16;
const gap = 2;

/** A path's beginning is its least informative part. */
export function fitTable(
  columns: readonly FittedColumn[],
  rows: readonly string[][],
  width: number | undefined,
): { columns: Column[]; rows: string[][] } {
  const kept = columns.map((_, index) => index);
  const measureColumn = (index: number) =>
    Math.max(...[columns[index]?.title ?? "", ...rows.map((row) => row[index] ?? "")].map((text) => [...text].length));
  const widths = columns.map((_, index) => measureColumn(index));
  const least = (index: number) =>
    columns[index]?.shrinks ? Math.min(minCut, widths[index] ?? 0) : (widths[index] ?? 0);
  const sum = (measure: (index: number) => number) => kept.reduce((total, index) => total + measure(index) + gap, -gap);
  const leaving = columns
    .flatMap(({ leavesAt }, index) => (leavesAt === undefined ? [] : { index, leavesAt }))
    .sort((a, b) => a.leavesAt - b.leavesAt);
  for (const { index } of leaving) if (width !== undefined && sum(least) > width) kept.splice(kept.indexOf(index), 1);
  const over = width === undefined ? 0 : Math.max(0, sum((index) => widths[index] ?? 0) - width);
  const textAt = (row: string[], index: number) => {
    const text = row[index] ?? "";
    return columns[index]?.shrinks ? cutStart(text, Math.max(minCut, (widths[index] ?? 0) - over)) : text;
  };
  return {
    columns: kept.flatMap((index) => columns[index] ?? []),
    rows: rows.map((row) => kept.map((index) => textAt(row, index))),
  };
}

function cutStart(text: string, max: number): string {
  const characters = [...text];
  return characters.length <= max ? text : `…${characters.slice(characters.length - max + 1).join("")}`;
}
