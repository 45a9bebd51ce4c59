-- What a trace used and cost, what started it, its project and the lines that it changed: derived after ingest by lib/ledger.
-- Every stored trace is marked as due, without being rewritten.
ALTER TABLE "trace" ADD COLUMN "accounted_to" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN "accounted_version" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN "cache_read_tokens" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN "cache_write_1h_tokens" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN "cache_write_5m_tokens" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN "children_at" TIMESTAMPTZ(3),
ADD COLUMN "continued_in" TEXT,
ADD COLUMN "cost_nano" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN "files_changed" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN "input_tokens" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN "ledger_due" BOOLEAN NOT NULL DEFAULT true,
ADD COLUMN "lines_added" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN "lines_removed" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN "output_tokens" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN "parent_id" UUID,
ADD COLUMN "parent_position" INTEGER,
ADD COLUMN "parent_relation" TEXT,
ADD COLUMN "parent_source_id" TEXT,
ADD COLUMN "project_id" UUID,
ADD COLUMN "reasoning_tokens" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN "recorded_nano" BIGINT,
ADD COLUMN "unpriced_tokens" BIGINT NOT NULL DEFAULT 0;

CREATE INDEX "trace_children" ON "trace"("user_id", "parent_id") WHERE (parent_id IS NOT NULL);

CREATE INDEX "trace_awaits_parent" ON "trace"("user_id", "source", "parent_source_id") WHERE (parent_source_id IS NOT NULL);

CREATE INDEX "trace_continued" ON "trace"("user_id", "source", "continued_in") WHERE (continued_in IS NOT NULL);

CREATE INDEX "trace_project" ON "trace"("user_id", "project_id", "activity_at" DESC, "id" DESC) WHERE (project_id IS NOT NULL);

CREATE INDEX "trace_ledger_due" ON "trace"("user_id", "id") WHERE (ledger_due);

-- The list of sessions that no other one started, by the latest activity of each and of what it started
CREATE INDEX "trace_roots" ON "trace"("user_id", GREATEST("activity_at", "children_at") DESC, "id" DESC)
  WHERE deleted_at IS NULL AND parent_id IS NULL;
