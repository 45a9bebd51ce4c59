import { zstdDecompressSync } from "node:zlib";
import { pool } from "#lib/db/client";
import { forEachPosting } from "#lib/search/index/block";
import { forEachTerm } from "#lib/search/index/terms";
import { decodeWords, firstWordBucket } from "#lib/search/index/vocabulary";

const zstdMagic = "28b52ffd";

/** A row in which a text was found, as JSON without columns of bytes. */
type Residue = { table: string; row: string };

/**
 * Searches every table of every schema for texts: in all columns as PostgreSQL writes them, and in the bytes of bytea columns,
 * as they are and decompressed.
 */
export async function findResidue(texts: string[]): Promise<Residue[]> {
  const { rows: tables } = await pool().query<{ name: string; bytes: string[] }>(
    `select format('%I.%I', nspname, relname) as name,
       coalesce(array_agg(attname::text) filter (where atttypid = 'bytea'::regtype), '{}') as bytes
     from pg_class join pg_namespace on pg_namespace.oid = relnamespace join pg_attribute on attrelid = pg_class.oid
     where relkind in ('r', 'p') and nspname !~ '^(pg_|information_schema$)' and attnum > 0 and not attisdropped group by 1`,
  );
  if (tables.length < 25) throw new Error("the tables were not found");
  const found: Residue[] = [];
  for (const table of tables) found.push(...(await searchTable(table, texts)));
  return found;
}

async function searchTable({ name, bytes }: { name: string; bytes: string[] }, texts: string[]): Promise<Residue[]> {
  const { rows } = await pool().query<{ row: object }>(`select to_jsonb(t) as row from ${name} t`);
  return rows.flatMap(({ row }) => {
    const hex = bytes.map((column) => (row as Record<string, string | null>)[column]?.slice(2) ?? "");
    const contents = [JSON.stringify(row), ...hex.map(decode)];
    const shown = Object.fromEntries(Object.entries(row).filter(([column]) => !bytes.includes(column)));
    return texts.some((text) => contents.some((content) => content.includes(text)))
      ? { table: name, row: JSON.stringify(shown) }
      : [];
  });
}

function decode(hex: string): string {
  const bytes = Buffer.from(hex, "hex");
  return hex.startsWith(zstdMagic) ? `${zstdDecompressSync(bytes)}` : `${bytes}`;
}

/** Lists all words in the search index, of all users. */
export async function indexedWords(): Promise<string[]> {
  const { rows } = await pool().query<{ postings: Buffer }>("select postings from search_bucket where bucket >= $1", [
    firstWordBucket,
  ]);
  return rows.flatMap(({ postings }) => decodeWords(postings).map(({ word }) => word));
}

/** Lists all terms with a posting in the search index, of all users. */
export async function indexedTerms(): Promise<Set<number>> {
  const { rows } = await pool().query<{ bucket: number; postings: Buffer; bits: number }>(
    `select bucket, search_bucket.postings, bits from search_bucket
     join search_block on search_block.user_id = search_bucket.user_id and id = block_id`,
  );
  const terms = new Set<number>();
  for (const { bits, ...bucket } of rows) {
    if (bucket.bucket < firstWordBucket) forEachPosting(bucket, bits, (term) => terms.add(term));
    else for (const { word } of decodeWords(bucket.postings)) forEachTerm(word, (term) => terms.add(term));
  }
  return terms;
}

/** Returns true if any term of a text has a posting in the search index, of any user. */
export async function isIndexed(text: string): Promise<boolean> {
  const indexed = await indexedTerms();
  let isFound = false;
  forEachTerm(text, (term) => {
    isFound ||= indexed.has(term);
  });
  return isFound;
}
