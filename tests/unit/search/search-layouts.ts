// What the layout of the search index has to keep to, in as many rounds as a test wants.
import { expect } from "vitest";
import { type Bucket, encode, findSlots, forEachPosting, getBucket } from "#lib/search/index/block";
import { makePosting, maxDocuments, type Postings, sort, termIn } from "#lib/search/index/posting";
import { termBits } from "#lib/search/index/terms";
import { makeRandom } from "../../support/random.ts";

export const terms = 2 ** termBits;

const randoms = (seed: number) => {
  const random = makeRandom(seed);
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
    if (most === documents) for (let slot = 0; slot < documents; slot += 1) chosen.add(makePosting(term, slot));
    else for (let n = 0; n < most; n += 1) chosen.add(makePosting(term, random(documents)));
  }
  return sort(Float64Array.from(chosen));
}

/** All postings of some rows. */
export function read(buckets: Bucket[], bits: number): number[] {
  const found: number[] = [];
  for (const bucket of buckets) forEachPosting(bucket, bits, (term, slot) => found.push(makePosting(term, slot)));
  return found;
}

/** Puts random postings into rows of any size, and looks at what comes out of them. */
export function expectGivenBack(rounds: number): void {
  const random = randoms(2);
  for (let round = 0; round < rounds; round += 1) {
    const [sorted, bits] = [somePostings(random), random(14)];
    const buckets = encode(sorted, bits);
    expect(isSame(read(buckets, bits), sorted)).toBe(true);
    const rows = new Map(buckets.map((bucket) => [bucket.bucket, bucket]));
    for (let look = 0; look < 20; look += 1) {
      const term = termIn(sorted[random(sorted.length)] as number) + random(2);
      const row = rows.get(getBucket(term, bits));
      const slots = [...sorted].filter((posting) => termIn(posting) === term).map((posting) => posting % maxDocuments);
      if (row) expect([...findSlots(term, row, bits)]).toEqual(slots);
    }
  }
}

/** Whether two lists of postings are the same; `toEqual` takes a hundred times as long for so many. */
export const isSame = (one: ArrayLike<number>, other: ArrayLike<number>): boolean =>
  Buffer.from(Float64Array.from(one).buffer).equals(Buffer.from(Float64Array.from(other).buffer));

/** Reads rows whose bytes were damaged. */
export function expectRisingOrNone(rounds: number): void {
  const random = randoms(22);
  for (let round = 0; round < rounds; round += 1) {
    const [sorted, bits] = [somePostings(random), random(14)];
    const written = encode(sorted, bits);
    const { bucket, postings } = written[random(written.length)] as Bucket;
    const damaged = { bucket, postings: damage(postings, random) };
    const found = read([damaged], bits);
    expect(found.every((posting, at) => at === 0 || posting > (found[at - 1] as number))).toBe(true);
    expect(found.every((posting) => getBucket(termIn(posting), bits) === bucket)).toBe(true);
    const slots = findSlots(termIn(sorted[random(sorted.length)] as number), damaged, bits);
    expect(slots.every((slot) => slot < maxDocuments)).toBe(true);
  }
}

/** Bytes that no program has written. */
export const odd: [name: string, bytes: (size: number) => Buffer][] = [
  ["zeros", (size) => Buffer.alloc(size)],
  ["ones", (size) => Buffer.alloc(size, 255)],
  ["zeros after a header of long gaps", (size) => Buffer.concat([Buffer.of(255, 255, 255), Buffer.alloc(size)])],
  ["numbers without an end", (size) => Buffer.alloc(size, 128)],
];

/** Reads such bytes, which have no more postings than bits. */
export function expectBounded(postings: Buffer): void {
  const most = 8 * postings.length + 32;
  expect(read([{ bucket: 0, postings }], 0).length).toBeLessThanOrEqual(most);
  findSlots(terms - 1, { bucket: 0, postings }, 0);
}

/** Cuts bytes, changes some, puts others before them, or takes others in their place. */
function damage(bytes: Buffer, random: (below: number) => number): Buffer {
  const some = (length: number) => Buffer.from(Array.from({ length }, () => random(256)));
  const kind = random(4);
  if (kind === 0) return bytes.subarray(0, random(bytes.length + 1));
  if (kind === 1) return Buffer.concat([some(1 + random(4)), bytes]);
  if (kind === 2) return some(random(200));
  const changed = Buffer.from(bytes);
  for (let changes = random(5); changes >= 0; changes -= 1) changed[random(changed.length)] = random(256);
  return changed;
}
