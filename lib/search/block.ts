// The postings of a block. A block holds those of up to 4,096 documents, sorted, in buckets by the first bits of the term; a bucket is one
// row (layout.ts).
import { makeEncoder, readTerm, type TermRange, visitPostings } from "#lib/search/layout";
import { maxDocuments, type Postings } from "#lib/search/posting";
import { termBits } from "#lib/search/terms";

/** The version of blocks that are written now. The sessions in a block of another version are indexed again. */
export const blockVersion = 2;

/** The approximate number of postings in a bucket: a row of about a kilobyte, unless a term occurs in most documents. */
const postingsPerBucket = 512;

/** About what a posting takes in a bucket. */
export const bytesPerPosting = 4;

/** How many bits of a term say its bucket, in a block of so many postings. */
export const bucketBits = (postings: number) =>
  Math.max(0, Math.min(13, Math.round(Math.log2(postings / postingsPerBucket))));

/** The bucket of a term, of `2 ** bits`. */
export const getBucket = (term: number, bits: number) => Math.floor(term / 2 ** (termBits - bits));

/** A row of a block. */
export type Bucket = { bucket: number; postings: Buffer };

function getTermRange(bucket: number, bits: number): TermRange {
  const span = 2 ** (termBits - bits);
  return { first: bucket * span, end: (bucket + 1) * span };
}

/** Encodes sorted postings without duplicates as buckets of a block, leaving out empty ones. */
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

/** The slots of the documents that have a term, in their order. */
export const findSlots = (term: number, { bucket, postings }: Bucket, bits: number): Uint16Array =>
  readTerm(postings, getTermRange(bucket, bits), term);

/** Calls `visit` with every posting of a bucket. */
export const forEachPosting = (
  { bucket, postings }: Bucket,
  bits: number,
  visit: (term: number, slot: number) => void,
): void => visitPostings(postings, getTermRange(bucket, bits), visit);
