import { describe, expect, test } from "vitest";
import { makeRows } from "#lib/transcript/rows";
import { bombs, drawnIn, listFull, listShapes, slowSegment } from "../../unit/reader/bombs.ts";
import { forbidden } from "../../unit/reader/markup";
import { render, renderBody } from "../../unit/reader/rendering";

/** What some work takes of the processor, in milliseconds: a machine that does other things too makes it no longer. */
async function measureCost(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

describe("what is made to take long", { timeout: 60_000 }, () => {
  // Grammars are read once, by whoever needs them first.
  test.each(Object.entries(bombs))("%s: drawn in bounded time", async (name, text) => {
    let html = "";
    const took = await measureCost(async () => {
      html = await render(drawnIn(text));
    });
    if (process.env.SHARES) process.stdout.write(`${Math.round(took)} ms ${html.length} ${name}\n`);
    expect(took).toBeLessThan(2000);
    expect(html.length).toBeLessThan(2_000_000);
    expect(forbidden(html)).toEqual([]);
  });

  test("a segment of edits that are slow to compare, and a fence longer than a regular expression may be", async () => {
    const messages = slowSegment(8, 3_000_000);
    let parts = 0;
    const took = await measureCost(async () => {
      parts = makeRows(messages).length;
    });
    expect(took).toBeLessThan(3000);
    expect(parts).toBeGreaterThan(0);
  });

  test.each(listFull(5 * 1024 * 1024))(
    "a message of 5 MB %s: a page of it, and its rest in slices",
    async (name, text) => {
      for (const shape of listShapes(text)) {
        let [html, body] = ["", ""];
        const took = await measureCost(async () => {
          html = await render([shape]);
          body = await renderBody([shape]);
        });
        if (process.env.SHARES) process.stdout.write(`${Math.round(took)} ms ${html.length} ${body.length} ${name}\n`);
        expect(took).toBeLessThan(3000);
        expect(html.length).toBeLessThan(200_000);
        expect(body.length).toBeLessThan(1_500_000);
      }
    },
  );
});
