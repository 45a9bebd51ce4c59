import { readFile } from "node:fs/promises";
import { beforeAll, expect, test } from "vitest";
import { pool, transaction } from "#lib/db/client";
import { answerUsage } from "#lib/usage/answer";
import { formatCsv } from "#lib/usage/csv";
import { type Figures, figuresShape, units, usageFacets, usageQuery } from "#lib/usage/schema";
import { fillLedger } from "../support/ledger-rows.ts";
import { provideOwner } from "../support/server.ts";

const { userId } = await provideOwner();

beforeAll(async () => {
  const size = { traces: 200, messages: 3000, days: 40, until: new Date("2026-04-20T00:00:00Z") };
  await transaction((tx) => fillLedger(tx, userId, size));
  // One pull request a session: one of two counts at each.
  await pool().query(
    `delete from trace_pull_request as more using trace_pull_request as one where more.user_id = $1
       and one.user_id = $1 and one.trace_id = more.trace_id and one.number < more.number`,
    [userId],
  );
});

const { compared: _, ...plain } = figuresShape.shape;
const names = Object.keys(plain) as (keyof typeof plain)[];
const pick = (figures: Figures) => Object.fromEntries(names.map((name) => [name, figures[name]]));
const sum = (rows: Figures[]) =>
  Object.fromEntries(names.map((name) => [name, rows.reduce((all, row) => all + row[name], 0)]));

test.each(usageFacets)("the rows by %s add up to the total of all and of each span, in every unit", async (by) => {
  for (const unit of units) {
    const query = usageQuery.parse({ from: "2026-03-15", to: "2026-04-12", unit, zone: "Europe/Berlin", by });
    const answer = await answerUsage(userId, query);
    expect(sum(answer.values ?? []), unit).toEqual(pick(answer.total));
    for (const span of answer.spans) {
      expect(sum(span.values ?? []), `${unit} ${span.from}`).toEqual(pick(span));
      const values = (span.values ?? []).map(({ value }) => value);
      expect(new Set(values).size, `${unit} ${span.from}`).toBe(values.length);
    }
    const [head = "", ...lines] = formatCsv(answer).trimEnd().split("\r\n");
    const column = head.split(",").indexOf("cost_usd");
    const cost = lines.reduce((all, line) => all + Number(line.split(",")[column]), 0);
    expect(cost, unit).toBeCloseTo(answer.total.costNano / 1e9, 6);
  }
});

test("the migration sums what was counted before it as the ledger does", async () => {
  const read = async () =>
    (await pool().query("select * from usage_quarter_hour order by user_id, quarter, facets")).rows;
  const before = await read();
  await pool().query("delete from usage_quarter_hour");
  await pool().query(await readFile("prisma/migrations/20261128220100_fill_usage_quarter_hour/migration.sql", "utf8"));
  expect(before.length).toBeGreaterThan(500);
  expect(await read()).toEqual(before);
});
