import { expect, test } from "vitest";
import { makePending } from "../../../app/(app)/traces/[id]/segments/pending";

test("a commit of an earlier change does not end a load that began after it", () => {
  const pending = makePending();
  const earlier = pending.change();
  const end = pending.begin();
  pending.place(earlier);
  expect(pending.isPlaced()).toBe(true);
  expect(pending.isIdle()).toBe(false);
  expect(end()).toBe(true);
  expect(pending.isIdle()).toBe(true);
});

test("of two loads the newer one counts, whichever comes first", () => {
  for (const order of ["older first", "newer first"]) {
    const pending = makePending();
    const ends = [pending.begin(), pending.begin()];
    const came = order === "older first" ? ends : ends.toReversed();
    expect(came.map((end) => end())).toEqual(order === "older first" ? [false, true] : [true, false]);
    expect(pending.isIdle()).toBe(true);
  }
});

test("a dropped load brings nothing, and does not end the one after it", () => {
  const pending = makePending();
  const dropped = pending.begin();
  pending.drop();
  expect(pending.isIdle()).toBe(true);
  const next = pending.begin();
  expect(dropped()).toBe(false);
  expect(pending.isLoading()).toBe(true);
  expect(next()).toBe(true);
});

test("a change is on its way until the page shows it, or a later one", () => {
  const pending = makePending();
  const first = pending.change();
  expect(pending.isIdle()).toBe(false);
  pending.place(0); // the page was drawn again for another reason
  expect(pending.isIdle()).toBe(false);
  const second = pending.change();
  pending.place(first);
  expect(pending.isPlaced()).toBe(false);
  pending.place(second);
  expect(pending.isIdle()).toBe(true);
});
