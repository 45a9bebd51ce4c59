import { describe, expect, test } from "vitest";
import { type Bucket, bucketOf, encode, forEachPosting, slotsOf } from "#lib/search/block";
import { maxDocuments, type Postings, postingOf, sort, termIn } from "#lib/search/posting";
import { termBits } from "#lib/search/terms";
import { randomOf } from "./secrets/made-up.ts";

const versions = [2, 3];
const terms = 2 ** termBits;

const randoms = (seed: number) => {
  const random = randomOf(seed);
  return (below: number) => Math.floor(random() * below);
};

/** Terms as they may be, from few to many, near each other or anywhere, each with one document, some, or all. */
function somePostings(random: (below: number) => number): Postings {
  const span = 2 ** (1 + random(termBits));
  const start = random(terms - span + 1);
  const documents = 1 + random(2 ** (1 + random(12)));
  const rareness = 1 + random(5);
  const chosen = new Set<number>();
  for (let count = random(2 ** (1 + random(10))); count >= 0; count -= 1) {
    const term = start + random(span);
    let most = random(rareness) ? 1 : 1 + random(documents);
    if (random(200) === 0) most = documents;
    if (most === documents) for (let slot = 0; slot < documents; slot += 1) chosen.add(postingOf(term, slot));
    else for (let n = 0; n < most; n += 1) chosen.add(postingOf(term, random(documents)));
  }
  return sort(Float64Array.from(chosen));
}

function read(buckets: Bucket[], bits: number, version: number): number[] {
  const found: number[] = [];
  for (const bucket of buckets)
    forEachPosting(bucket, bits, version, (term, slot) => found.push(postingOf(term, slot)));
  return found;
}

describe.each(versions)("the layout of version %i", (version) => {
  test("gives back whatever postings were put into it, in rows of any size", () => {
    const random = randoms(version);
    for (let round = 0; round < 200; round += 1) {
      const [sorted, bits] = [somePostings(random), random(14)];
      const buckets = encode(sorted, bits, version);
      expect(Float64Array.from(read(buckets, bits, version))).toEqual(sorted);
      const rows = new Map(buckets.map((bucket) => [bucket.bucket, bucket]));
      for (let look = 0; look < 20; look += 1) {
        const term = termIn(sorted[random(sorted.length)] as number) + random(2);
        const row = rows.get(bucketOf(term, bits));
        const slots = [...sorted]
          .filter((posting) => termIn(posting) === term)
          .map((posting) => posting % maxDocuments);
        if (row) expect([...slotsOf(term, row, bits, version)]).toEqual(slots);
      }
    }
  });

  test.each<[string, number[]]>([
    ["nothing", []],
    ["the first term and the first slot", [0]],
    ["the last term and the last slot", [terms * maxDocuments - 1]],
    ["the first and the last term", [0, postingOf(terms - 1, 0)]],
    ["many near each other before one far away", [...Array(500).keys(), postingOf(terms - 1, 7)]],
    ["all documents of neighbouring terms", [...Array(20 * maxDocuments).keys()]],
    ["every second document", Array.from({ length: 2048 }, (_, n) => postingOf(77, 2 * n + 1))],
    ["the first and the last document", [postingOf(5, 0), postingOf(5, 4095)]],
  ])("keeps %s", (_, postings) => {
    for (let bits = 0; bits <= 13; bits += 1)
      expect(read(encode(Float64Array.from(postings), bits, version), bits, version)).toEqual(postings);
  });

  test("reads rising postings of the row's own terms, or none, from whatever bytes it is given", () => {
    const random = randoms(20 + version);
    for (let round = 0; round < 1000; round += 1) {
      const [sorted, bits] = [somePostings(random), random(14)];
      const written = encode(sorted, bits, versions[random(2)] as number);
      const { bucket, postings } = written[random(written.length)] as Bucket;
      const damaged = { bucket, postings: damage(postings, random) };
      const found = read([damaged], bits, version);
      expect(found.every((posting, at) => at === 0 || posting > (found[at - 1] as number))).toBe(true);
      expect(found.every((posting) => bucketOf(termIn(posting), bits) === bucket)).toBe(true);
      const slots = slotsOf(termIn(sorted[random(sorted.length)] as number), damaged, bits, version);
      expect(slots.every((slot) => slot < maxDocuments)).toBe(true);
    }
  });

  test.each<[string, (size: number) => Buffer]>([
    ["zeros", (size) => Buffer.alloc(size)],
    ["ones", (size) => Buffer.alloc(size, 255)],
    ["zeros after a header of long gaps", (size) => Buffer.concat([Buffer.of(255, 255, 255), Buffer.alloc(size)])],
    ["numbers without an end", (size) => Buffer.alloc(size, 128)],
  ])("reads a megabyte of %s at once", (_, bytes) => {
    for (const size of [0, 1, 2, 3, 4, 5, 100, 2 ** 20]) {
      const startedAt = performance.now();
      expect(read([{ bucket: 0, postings: bytes(size) }], 0, version).length).toBeLessThanOrEqual(8 * size + 32);
      slotsOf(terms - 1, { bucket: 0, postings: bytes(size) }, 0, version);
      expect(performance.now() - startedAt).toBeLessThan(2000);
    }
  });
});

/** Cuts bytes, changes some, puts others before them, or takes others in their place. */
function damage(bytes: Buffer, random: (below: number) => number): Buffer {
  const some = (length: number) => Buffer.from(Array.from({ length }, () => random(256)));
  const kind = random(5);
  if (kind === 0) return bytes.subarray(0, random(bytes.length + 1));
  if (kind === 1) return Buffer.concat([some(1 + random(4)), bytes]);
  if (kind === 2) return some(random(200));
  if (kind === 3) return bytes; // of the other version, or of this one
  const changed = Buffer.from(bytes);
  for (let changes = random(5); changes >= 0; changes -= 1) changed[random(changed.length)] = random(256);
  return changed;
}
