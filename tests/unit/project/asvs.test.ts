import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";

/** The sections of ASVS 5.0.0 with requirements of the levels 1 and 2, and how many each has: they are numbered from 1. */
const sections: Record<string, number> = {
  ...{ "1.1": 2, "1.2": 9, "1.3": 11, "1.4": 3, "1.5": 2 },
  ...{ "2.1": 3, "2.2": 3, "2.3": 4, "2.4": 1 },
  ...{ "3.2": 2, "3.3": 4, "3.4": 6, "3.5": 5, "3.7": 2 },
  ...{ "4.1": 3, "4.2": 1, "4.3": 2, "4.4": 4 },
  ...{ "5.1": 1, "5.2": 3, "5.3": 2, "5.4": 3 },
  ...{ "6.1": 3, "6.2": 12, "6.3": 4, "6.4": 4, "6.5": 5, "6.6": 3, "6.8": 4 },
  ...{ "7.1": 3, "7.2": 4, "7.3": 2, "7.4": 5, "7.5": 2, "7.6": 2 },
  ...{ "8.1": 2, "8.2": 3, "8.3": 1, "8.4": 1 },
  ...{ "9.1": 3, "9.2": 4 },
  ...{ "10.1": 2, "10.2": 2, "10.3": 4, "10.4": 11, "10.5": 5, "10.6": 2, "10.7": 3 },
  ...{ "11.1": 2, "11.2": 3, "11.3": 3, "11.4": 4, "11.5": 1, "11.6": 1 },
  ...{ "12.1": 3, "12.2": 2, "12.3": 4 },
  ...{ "13.1": 1, "13.2": 5, "13.3": 2, "13.4": 5 },
  ...{ "14.1": 2, "14.2": 4, "14.3": 3 },
  ...{ "15.1": 3, "15.2": 3, "15.3": 7 },
  ...{ "16.1": 1, "16.2": 5, "16.3": 4, "16.4": 3, "16.5": 3 },
  ...{ "17.1": 1, "17.2": 4, "17.3": 2 },
};

const requirements = Object.entries(sections).flatMap(([section, count]) =>
  Array.from({ length: count }, (_, index) => `${section}.${index + 1}`),
);

const text = await readFile("docs/asvs.md", "utf8");
/** The numbers that a row covers: `4.4.1`, or the range `4.4.1–4.4.4` within a section or chapter. */
function expandNumbers(first: string, last = first): string[] {
  return requirements.slice(requirements.indexOf(first), requirements.indexOf(last) + 1);
}

const rowPattern = /^\| (\d+\.\d+\.\d+)(?:–(\d+\.\d+\.\d+))? \| ([^|]+) \| ([^|]+) \| ([^|]*) \|$/gm;
const rows = [...text.matchAll(rowPattern)].flatMap(([, first = "", last, asks = "", verdict = "", evidence = ""]) =>
  expandNumbers(first, last).map((number) => ({ number, asks, verdict, evidence })),
);

test("every requirement of the levels 1 and 2 has one row, in their order", () => {
  expect(requirements).toHaveLength(253);
  expect(rows.map(({ number }) => number)).toEqual(requirements);
});

/** The numbers of a line of the table at the top: met, n/a, open, all. */
const getCounts = (title: string) =>
  new RegExp(`^\\| \\*{0,2}\\[?${title}\\b[^|]*\\|(.*)\\|$`, "m")
    .exec(text)?.[1]
    ?.split("|")
    .map((cell) => Number(cell.replaceAll("*", "")));

test("the counts at the top are those of the rows", () => {
  const count = (some: typeof rows) => [
    ...["met", "n/a", "open"].map((verdict) => some.filter((row) => row.verdict === verdict).length),
    some.length,
  ];
  for (let chapter = 1; chapter <= 17; chapter += 1) {
    const own = rows.filter(({ number }) => number.startsWith(`${chapter}.`));
    expect(getCounts(`V${chapter}`), `V${chapter}`).toEqual(count(own));
  }
  expect(getCounts("all")).toEqual(count(rows));
});

/** The tests and sources that a text names in backticks; other words in backticks are no files. */
const filesIn = (evidence: string) =>
  [...evidence.matchAll(/`([^`]+)`/g)]
    .map(([, name = ""]) => name)
    .filter((name) =>
      /^(?:\.ci|api|app|attacks|cli|docs|e2e|jobs|lib|prisma|unit)\/|^[\w-]+(?:\.config)?\.(?:json|ts)$/.test(name),
    );

test.each(rows)("$number has a verdict with its evidence", ({ asks, verdict, evidence }) => {
  const files = filesIn(evidence);
  expect(asks.split(/\s+/).length).toBeLessThanOrEqual(12);
  expect(files.filter((name) => !existsSync(name) && !existsSync(`tests/${name}.test.ts`))).toEqual([]);
  if (verdict === "met") expect(files, "a test or a source shows it").not.toEqual([]);
  else if (verdict === "open") expect(evidence, "its weight").toMatch(/\b(?:high|medium|low|negligible)\b/i);
  else {
    expect(verdict).toBe("n/a");
    expect(evidence.length, "why it does not apply").toBeGreaterThan(5);
  }
});
