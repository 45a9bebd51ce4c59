import { describe, expect, test } from "vitest";
import { bucketBits, encode, findSlots, forEachPosting, getBucket } from "#lib/search/index/block";
import { Collector, type Draft } from "#lib/search/index/collect";
import { makePosting, sort } from "#lib/search/index/posting";
import { forEachTerm } from "#lib/search/index/terms";

/** Numbers that look like terms; the same at every call. */
function* someTerms(count: number): Generator<number> {
  let state = 1n;
  for (let n = 0; n < count; n += 1) {
    state = (state * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n) & 0xffffffffffffffffn;
    yield Number(state >> 24n);
  }
}

describe("a block", () => {
  test.each([1, 300, 20_000])("of %i terms gives back what was put into it", (count) => {
    const terms = [...someTerms(count)];
    const given = terms.flatMap((term, n) => [makePosting(term, n % 4095), makePosting(term, 4095)]);
    const sorted = sort(Float64Array.from(given));
    expect([...sorted]).toEqual(given.toSorted((a, b) => a - b));
    const bits = bucketBits(sorted.length);
    const buckets = encode(sorted, bits);
    const read: number[] = [];
    for (const bucket of buckets) forEachPosting(bucket, bits, (term, slot) => read.push(makePosting(term, slot)));
    expect(read).toEqual([...sorted]);
    const rows = new Map(buckets.map((one) => [one.bucket, one]));
    const slots = terms.map((term) => {
      const bucket = rows.get(getBucket(term, bits));
      return bucket && findSlots(term, bucket, bits).join();
    });
    expect(slots).toEqual(terms.map((_, n) => `${n % 4095},4095`));
  });

  test("has no slots for a term that is not in its bucket", () => {
    const [bucket] = encode(Float64Array.of(makePosting(5, 1), makePosting(9, 2)), 0);
    const found = [4, 5, 6, 9, 10].map((term) => bucket && [...findSlots(term, bucket, 0)]);
    expect(found).toEqual([[], [1], [], [2], []]);
  });
});

/** Does all steps of a collector's work. @returns how many there were */
const doAll = (steps: Iterable<unknown>): number => [...steps].length;

test("a very long trace becomes several documents, each from a position on", () => {
  const collector = new Collector();
  doAll(collector.begin("long", "title", []));
  for (let position = 0; position < 4500; position += 1) doAll(collector.add("long", position * 2, `word ${position}`));
  doAll(collector.begin("short", null, []));
  const [draft, ...others] = collector.finish();
  expect(others).toEqual([]);
  expect(draft?.documents).toEqual([
    { traceId: "long", firstPosition: 0, slot: 0 },
    { traceId: "long", firstPosition: 4000, slot: 1 },
    { traceId: "long", firstPosition: 8000, slot: 2 },
    { traceId: "short", firstPosition: 0, slot: 3 },
  ]);
});

test("of a trace of any length no more is held than a draft", () => {
  const most = 20_000;
  const collector = new Collector(most);
  const drafts: Draft[] = [];
  doAll(collector.begin("endless", null, []));
  for (let position = 0; position < 20_000; position += 1) {
    doAll(collector.add("endless", position, `w${position.toString(36)} v${position.toString(36)}`));
    drafts.push(...collector.takeFull());
    if (position % 1000 === 999) expect(drafts.length).toBeGreaterThanOrEqual(Math.floor(position / 2000 / 5));
  }
  expect(drafts.length).toBeGreaterThan(1);
  for (const { documents, postings } of drafts) {
    expect(documents[0]).toMatchObject({ traceId: "endless", slot: 0 });
    expect(postings.length).toBeLessThan(2 * most);
  }
});

test("a long message is collected in steps, between which others can have their turn", () => {
  const text = Array.from({ length: 40_000 }, (_, n) => `word${n} someName${n}`).join(" ");
  const terms = new Set<number>();
  forEachTerm(text, (term) => terms.add(term));
  const collector = new Collector();
  doAll(collector.begin("t", null, []));
  expect(doAll(collector.add("t", 0, text))).toBeGreaterThan(text.length / 2 ** 16);
  const [draft] = collector.finish();
  expect(draft?.postings.length).toBe(terms.size);
});
