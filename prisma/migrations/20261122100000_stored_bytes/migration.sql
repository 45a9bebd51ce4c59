-- The size of a trace's message rows, for USER_QUOTA_BYTES. NULL for traces that were written before this column existed:
-- what is stored of them is then computed (lib/ingest/quota/sql.ts).
ALTER TABLE "trace" ADD COLUMN "stored_bytes" INTEGER;
