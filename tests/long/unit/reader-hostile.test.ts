import { expect, test } from "vitest";
import { forbidden } from "../../unit/reader/markup";
import { everywhere, payloads } from "../../unit/reader/payloads.ts";
import { renderBody } from "../../unit/reader/rendering";

test.each(Object.entries(payloads))("%s in the body of any row stays text", { timeout: 60_000 }, async (_, text) => {
  for (const one of everywhere(text)) expect(forbidden(await renderBody([one]))).toEqual([]);
});
