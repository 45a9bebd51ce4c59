import { expect, test } from "vitest";
import { countTraces, readFacets } from "#lib/traces/facets";
import { provideOwner } from "../support/server.ts";
import { messages, uploadsOf } from "./uploads.ts";

const { userId } = await provideOwner();
const { send } = uploadsOf(userId);

test("a model and its dated twins are one in the menu, and for the filter; a dated name stands for itself", async () => {
  for (const [at, model] of ["gpt-5", "gpt-5-2025-08-07", "gpt-5@20250807", "gpt-5-mini", "gpt-5.1"].entries())
    await send({ sourceId: `of ${at}`, source: "own", model, messages: messages("words") });
  const counted = { "gpt-5": 3, "gpt-5-mini": 1, "gpt-5.1": 1 };
  const { model } = await readFacets(userId, {});
  expect(Object.fromEntries(model.map(({ value, count }) => [value, count]))).toEqual(counted);
  for (const [value, count] of Object.entries({ ...counted, "gpt-5-2025-08-07": 1, "gpt-": 0, gpt_5: 0 }))
    expect(await countTraces(userId, { model: value }, 10), value).toBe(count);
});
