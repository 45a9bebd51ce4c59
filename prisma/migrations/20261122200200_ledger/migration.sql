-- The ledger: what messages used and cost, by day; budgets; projects; branches, commits, pull requests and files of traces
CREATE TABLE "message_usage" (
    "user_id" UUID NOT NULL,
    "trace_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "facets" BIGINT NOT NULL,
    "model" TEXT,
    "branch" TEXT,
    "service_tier" TEXT,
    "input_tokens" INTEGER NOT NULL DEFAULT 0,
    "output_tokens" INTEGER NOT NULL DEFAULT 0,
    "cache_read_tokens" INTEGER NOT NULL DEFAULT 0,
    "cache_write_5m_tokens" INTEGER NOT NULL DEFAULT 0,
    "cache_write_1h_tokens" INTEGER NOT NULL DEFAULT 0,
    "reasoning_tokens" INTEGER NOT NULL DEFAULT 0,
    "cost_nano" BIGINT,
    "recorded_nano" BIGINT,
    "request_key" BIGINT,
    "counted" BOOLEAN NOT NULL DEFAULT true,

    CONSTRAINT "message_usage_pkey" PRIMARY KEY ("user_id","trace_id","position")
);

CREATE TABLE "usage_day" (
    "user_id" UUID NOT NULL,
    "day" DATE NOT NULL,
    "facets" BIGINT NOT NULL,
    "messages" INTEGER NOT NULL,
    "tokens" BIGINT NOT NULL,
    "untimed" INTEGER NOT NULL,
    "uncounted" INTEGER NOT NULL,
    "sessions" INTEGER NOT NULL DEFAULT 0,
    "input_tokens" BIGINT NOT NULL,
    "output_tokens" BIGINT NOT NULL,
    "cache_read_tokens" BIGINT NOT NULL,
    "cache_write_5m_tokens" BIGINT NOT NULL,
    "cache_write_1h_tokens" BIGINT NOT NULL,
    "reasoning_tokens" BIGINT NOT NULL,
    "cost_nano" BIGINT NOT NULL,
    "recorded_nano" BIGINT NOT NULL,
    "unpriced_tokens" BIGINT NOT NULL,
    "compared_nano" BIGINT NOT NULL DEFAULT 0,
    "compared_recorded_nano" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "usage_day_pkey" PRIMARY KEY ("user_id","day","facets")
);

CREATE TABLE "budget" (
    "user_id" UUID NOT NULL,
    "facet" TEXT NOT NULL DEFAULT '',
    "value" TEXT NOT NULL DEFAULT '',
    "amount_nano" BIGINT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "budget_pkey" PRIMARY KEY ("user_id","facet","value")
);

CREATE TABLE "project" (
    "user_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "renamed" BOOLEAN NOT NULL DEFAULT false,
    "merged_into" UUID,
    "unsettled" INTEGER NOT NULL DEFAULT 0,
    "moving" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "project_pkey" PRIMARY KEY ("user_id","id")
);

CREATE TABLE "project_alias" (
    "user_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "machine" TEXT NOT NULL DEFAULT '',
    "value" TEXT NOT NULL,
    "project_id" UUID NOT NULL,
    "moved_from" UUID,

    CONSTRAINT "project_alias_pkey" PRIMARY KEY ("user_id","kind","machine","value")
);

CREATE TABLE "trace_branch" (
    "user_id" UUID NOT NULL,
    "trace_id" UUID NOT NULL,
    "branch" TEXT NOT NULL,
    "position" INTEGER,
    "evidence" TEXT NOT NULL,

    CONSTRAINT "trace_branch_pkey" PRIMARY KEY ("user_id","trace_id","branch")
);

CREATE TABLE "trace_commit" (
    "user_id" UUID NOT NULL,
    "trace_id" UUID NOT NULL,
    "hash" TEXT NOT NULL,
    "repository" TEXT,
    "branch" TEXT,
    "subject" TEXT,
    "position" INTEGER,
    "evidence" TEXT NOT NULL,

    CONSTRAINT "trace_commit_pkey" PRIMARY KEY ("user_id","trace_id","hash")
);

CREATE TABLE "trace_pull_request" (
    "user_id" UUID NOT NULL,
    "trace_id" UUID NOT NULL,
    "url" TEXT NOT NULL,
    "repository" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "position" INTEGER,
    "evidence" TEXT NOT NULL,

    CONSTRAINT "trace_pull_request_pkey" PRIMARY KEY ("user_id","trace_id","url")
);

CREATE TABLE "trace_file" (
    "user_id" UUID NOT NULL,
    "trace_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,
    "path" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "added" INTEGER NOT NULL DEFAULT 0,
    "removed" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "trace_file_pkey" PRIMARY KEY ("user_id","trace_id","position","path")
);

CREATE INDEX "message_usage_user_id_at_idx" ON "message_usage"("user_id", "at");

CREATE INDEX "message_usage_request" ON "message_usage"("user_id", "request_key") WHERE (request_key IS NOT NULL);

CREATE INDEX "project_unsettled" ON "project"("user_id", "id") WHERE (unsettled > 0);

CREATE INDEX "project_alias_user_id_project_id_idx" ON "project_alias"("user_id", "project_id");

CREATE INDEX "trace_branch_user_id_branch_idx" ON "trace_branch"("user_id", "branch");

CREATE INDEX "trace_pull_request_user_id_number_repository_idx" ON "trace_pull_request"("user_id", "number", "repository");

CREATE INDEX "trace_file_user_id_name_trace_id_idx" ON "trace_file"("user_id", "name", "trace_id");

ALTER TABLE "message_usage" ADD CONSTRAINT "message_usage_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

ALTER TABLE "usage_day" ADD CONSTRAINT "usage_day_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

ALTER TABLE "budget" ADD CONSTRAINT "budget_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

ALTER TABLE "project" ADD CONSTRAINT "project_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

ALTER TABLE "project_alias" ADD CONSTRAINT "project_alias_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

ALTER TABLE "project_alias" ADD CONSTRAINT "project_alias_user_id_project_id_fkey" FOREIGN KEY ("user_id", "project_id") REFERENCES "project"("user_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

ALTER TABLE "trace_branch" ADD CONSTRAINT "trace_branch_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

ALTER TABLE "trace_commit" ADD CONSTRAINT "trace_commit_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

ALTER TABLE "trace_pull_request" ADD CONSTRAINT "trace_pull_request_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

ALTER TABLE "trace_file" ADD CONSTRAINT "trace_file_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- Finds abbreviated hashes, too
CREATE INDEX "trace_commit_hash" ON "trace_commit"("user_id", "hash" text_pattern_ops);
