// Sorted postings of up to 4,096 documents in buckets by the term's first bits; each bucket is a row (layout.ts).
import { makeEncoder, readTerm, type TermRange, visitPostings } from "#lib/search/index/layout";
import { maxDocuments, type Postings } from "#lib/search/index/posting";
import { termBits } from "#lib/search/index/terms";

/** Raise when the format changes; sessions in older blocks are indexed again. */
export const blockVersion = 2;

/** About a kilobyte a row, unless a term occurs in most documents. */
const postingsPerBucket = 512;

/** Approximate. */
export const bytesPerPosting = 4;

export const bucketBits = (postings: number) =>
  Math.max(0, Math.min(13, Math.round(Math.log2(postings / postingsPerBucket))));

export const getBucket = (term: number, bits: number) => Math.floor(term / 2 ** (termBits - bits));

export type Bucket = { bucket: number; postings: Buffer };

function getTermRange(bucket: number, bits: number): TermRange {
  const span = 2 ** (termBits - bits);
  return { first: bucket * span, end: (bucket + 1) * span };
}

export function encode(sorted: Postings, bits: number): Bucket[] {
  const encodeRow = makeEncoder();
  const buckets: Bucket[] = [];
  const span = 2 ** (termBits - bits) * maxDocuments;
  for (let at = 0; at < sorted.length; ) {
    const bucket = Math.floor((sorted[at] as number) / span);
    const from = at;
    while (at < sorted.length && (sorted[at] as number) < (bucket + 1) * span) at += 1;
    buckets.push({ bucket, postings: encodeRow(sorted.subarray(from, at), getTermRange(bucket, bits).first) });
  }
  return buckets;
}

export const findSlots = (term: number, { bucket, postings }: Bucket, bits: number): Uint16Array =>
  readTerm(postings, getTermRange(bucket, bits), term);

export const forEachPosting = (
  { bucket, postings }: Bucket,
  bits: number,
  visit: (term: number, slot: number) => void,
): void => visitPostings(postings, getTermRange(bucket, bits), visit);
