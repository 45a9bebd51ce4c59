-- Deleted traces whose terms are still in the search index: `search_pending` on a tombstone
CREATE INDEX "trace_search_purge" ON "trace"("user_id", "id") WHERE search_pending AND deleted_at IS NOT NULL;

-- Until now the index kept the terms of deleted traces wherever a block was not merged again
UPDATE "trace" SET "search_pending" = true WHERE "deleted_at" IS NOT NULL;
