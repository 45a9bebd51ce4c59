-- Uploads that append to a trace: what became of those that do not fit, which upload appended last, and what a derived title
-- was made of, so that later messages can be judged without reading the earlier ones.
ALTER TABLE "ingest_job" ADD COLUMN "traces_incomplete" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "ingest_job" ADD COLUMN "incomplete" JSONB;
ALTER TABLE "trace" ADD COLUMN "append_sequence" BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "trace" ADD COLUMN "title_rank" SMALLINT;
