-- The list is without these: they are counted by an index of their own, so that all others are counted by theirs alone. It also lists
-- the trivial ones, as the one before did.
CREATE INDEX "trace_put_away" ON "trace"("user_id", "activity_at" DESC, "id" DESC)
  WHERE ((trivial OR archived_at IS NOT NULL) AND deleted_at IS NULL);
DROP INDEX "trace_trivial";
