import { expect, test } from "vitest";
import { loadSharedBody, loadSharedSegment } from "../../../app/shared/[token]/load.ts";

const token = "a".repeat(36);

test.each([
  null,
  "x",
  { token: 1 },
  { token, request: { at: -1 }, talk: false },
  { token, position: 0, positions: [] },
  { token, position: 2 ** 31, positions: [2 ** 31] },
])("what a stranger sends in the place of a question of the shared reader's has no answer: %j", async (sent) => {
  expect(await loadSharedSegment(sent as never)).toBeUndefined();
  expect(await loadSharedBody(sent as never)).toBeUndefined();
});
