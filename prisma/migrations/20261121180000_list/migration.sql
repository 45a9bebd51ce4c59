-- Deleted conversations whose messages are yet to be removed
CREATE INDEX "trace_to_purge" ON "trace"("user_id", "id") WHERE "deleted_at" IS NOT NULL AND "message_count" > 0;

-- The list's order, and within it what filters compare, so that a rare value is found without reading every row. Only the
-- beginnings: whole values could be longer than an entry of an index may be.
CREATE INDEX "trace_list" ON "trace"("user_id", "activity_at" DESC, "id" DESC,
  left("source", 32), left("model", 32), left("project", 32), left("machine", 32))
WHERE "deleted_at" IS NULL;

DROP INDEX "trace_user_id_activity_at_id_idx";
