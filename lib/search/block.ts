// The postings of a block. A block holds those of up to 4,096 documents, sorted, in buckets by the first bits of the term; a bucket is one
// row. How a row is laid out depends on the block's version.
import { layout2 } from "#lib/search/layout-2";
import { layout3 } from "#lib/search/layout-3";
import { maxDocuments, type Postings } from "#lib/search/posting";
import { termBits } from "#lib/search/terms";

/**
 * What blocks hold that are written now; those of a lower version lack words, fields and facts. A higher version holds the same in another
 * layout.
 */
export const contentVersion = 2;

/** The version of blocks in today's layout, which the release before can't read. */
export const layoutVersion = 3;

/** What blocks of a version hold: others are not merged with them. */
export const contentOf = (version: number) => Math.min(version, contentVersion);

/** The approximate number of postings in a bucket: a row of about a kilobyte, unless a term occurs in most documents. */
const postingsPerBucket = 512;

/** About what a posting takes in a bucket. */
export const bytesPerPosting = 3;

/** How many bits of a term say its bucket, in a block of so many postings. */
export const bucketBits = (postings: number) =>
  Math.max(0, Math.min(13, Math.round(Math.log2(postings / postingsPerBucket))));

/** The bucket of a term, of `2 ** bits`. */
export const bucketOf = (term: number, bits: number) => Math.floor(term / 2 ** (termBits - bits));

/** A row of a block. */
export type Bucket = { bucket: number; postings: Buffer };

/** The terms that a row can have: from one up to but without another. */
type Range = { first: number; end: number };

/** How a row is laid out. Whatever the bytes are that it is given, it reads postings of the row's range, or none, in bounded time. */
export type Layout = {
  /** Returns what encodes the postings of a row, whose terms begin with `first`. */
  encoder(): (sorted: Postings, first: number) => Buffer;
  slotsOf(row: Buffer, range: Range, term: number): Uint16Array;
  forEachPosting(row: Buffer, range: Range, visit: (term: number, slot: number) => void): void;
};

const layoutOf = (version: number): Layout => (version < layoutVersion ? layout2 : layout3);

function rangeOf(bucket: number, bits: number): Range {
  const span = 2 ** (termBits - bits);
  return { first: bucket * span, end: (bucket + 1) * span };
}

/** Encodes sorted postings without duplicates as buckets of a block of a version, leaving out empty ones. */
export function encode(sorted: Postings, bits: number, version: number): Bucket[] {
  const encodeRow = layoutOf(version).encoder();
  const buckets: Bucket[] = [];
  const span = 2 ** (termBits - bits) * maxDocuments;
  for (let at = 0; at < sorted.length; ) {
    const bucket = Math.floor((sorted[at] as number) / span);
    const from = at;
    while (at < sorted.length && (sorted[at] as number) < (bucket + 1) * span) at += 1;
    buckets.push({ bucket, postings: encodeRow(sorted.subarray(from, at), rangeOf(bucket, bits).first) });
  }
  return buckets;
}

/** The slots of the documents that have a term, in their order. */
export const slotsOf = (term: number, { bucket, postings }: Bucket, bits: number, version: number): Uint16Array =>
  layoutOf(version).slotsOf(postings, rangeOf(bucket, bits), term);

/** Calls `visit` with every posting of a bucket. */
export const forEachPosting = (
  { bucket, postings }: Bucket,
  bits: number,
  version: number,
  visit: (term: number, slot: number) => void,
): void => layoutOf(version).forEachPosting(postings, rangeOf(bucket, bits), visit);
