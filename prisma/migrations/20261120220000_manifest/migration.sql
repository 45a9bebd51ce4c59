-- What was found in an upload, so that a job compares before it decodes
ALTER TABLE "upload" ADD COLUMN "manifest" BYTEA;
ALTER TABLE "upload" ALTER COLUMN "manifest" SET STORAGE EXTERNAL;

-- The same body that comes again is known by its hash
CREATE INDEX "ingest_job_user_id_body_sha256_idx" ON "ingest_job"("user_id", "body_sha256");

-- Jobs that succeeded are nearly all of them, and nobody looks for those by their sequence
DROP INDEX "ingest_job_user_id_sequence_idx";
DROP INDEX "ingest_job_open";
CREATE INDEX "ingest_job_open" ON "ingest_job"("user_id", "sequence", "status") WHERE status <> 'succeeded';

-- The size and the SHA-256 of the messages as they were sent, by which a trace is known that only grew. Null where they
-- were not sent in order, and for what was stored before
ALTER TABLE "trace" ADD COLUMN "messages_bytes" INTEGER;
ALTER TABLE "trace" ALTER COLUMN "messages_hash" DROP NOT NULL;
