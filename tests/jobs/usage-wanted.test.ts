import { beforeAll, expect, test } from "vitest";
import { transaction } from "#lib/db/client";
import { heavyRead } from "#lib/db/heavy";
import { spansOf, startsOf } from "#lib/usage/spans";
import type { Column } from "#lib/usage/sql/parts";
import { type ReportRow, readGone, readReport, rolledFacets } from "#lib/usage/sql/report";
import { fillLedger } from "../support/ledger-rows.ts";
import { provideOwner } from "../support/server.ts";

const { userId } = await provideOwner();
beforeAll(() =>
  transaction((tx) =>
    fillLedger(tx, userId, { traces: 200, messages: 3000, days: 40, until: new Date("2026-04-20T00:00:00Z") }),
  ),
);

const wantings: Column[][] = [["cost_nano"], ["sessions"], ["messages", "cache_read_tokens", "tier_not_priced_tokens"]];

test.each(["UTC", "Europe/Berlin", "Pacific/Auckland", "America/Los_Angeles"])(
  "a report of few figures has the same ones as one of all, in %s",
  async (zone) => {
    const starts = startsOf(spansOf("2026-03-15", "2026-04-12", "week", zone));
    const read = (wanted?: Column[]) =>
      heavyRead(userId, async (tx) => {
        const request = { starts, facets: rolledFacets, filter: {}, maxValues: 1000, gone: await readGone(tx, userId) };
        return readReport(tx, userId, { ...request, listed: wanted, spans: { by: "source", wanted } });
      });
    const totalOf = (rows: ReportRow[]) => rows.find(({ span, facet }) => span === null && facet === null);
    const all = await read();
    for (const wanted of wantings) {
      const shortOf = (rows: ReportRow[]) =>
        rows
          .filter((row) => wanted.some((name) => row[name] !== 0))
          .map((row) => JSON.stringify([row.span, row.facet, row.value, ...wanted.map((name) => row[name])]))
          .sort();
      const few = await read(wanted);
      expect(shortOf(few).length).toBeGreaterThan(20);
      expect(shortOf(few)).toEqual(shortOf(all));
      expect(totalOf(few)).toEqual(totalOf(all));
    }
  },
);
