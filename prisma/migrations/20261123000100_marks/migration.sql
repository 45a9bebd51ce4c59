-- What a person decides about a session: uploads never write these columns. No row is rewritten, and no index is added that an
-- upload of an unmarked session would have to write to.
ALTER TABLE "trace" ADD COLUMN "archived_at" TIMESTAMPTZ(3),
ADD COLUMN "custom_title" TEXT,
ADD COLUMN "note" TEXT,
ADD COLUMN "starred_at" TIMESTAMPTZ(3),
ADD COLUMN "tags" TEXT[] DEFAULT ARRAY[]::TEXT[];

CREATE INDEX "trace_starred" ON "trace"("user_id", "starred_at" DESC) WHERE (starred_at IS NOT NULL);

CREATE INDEX "trace_tagged" ON "trace"("user_id", "id") WHERE (cardinality(tags) > 0);
