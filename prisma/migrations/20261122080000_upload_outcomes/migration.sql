-- Why traces of an upload were left as stored, by reason (their sum is traces_kept), and which traces it created or updated.
-- NULL for jobs that ended before these columns existed.
ALTER TABLE "ingest_job" ADD COLUMN "traces_kept_deleted" INTEGER;
ALTER TABLE "ingest_job" ADD COLUMN "traces_kept_newer" INTEGER;
ALTER TABLE "ingest_job" ADD COLUMN "traces_kept_shorter" INTEGER;
ALTER TABLE "ingest_job" ADD COLUMN "written_trace_ids" UUID[];
