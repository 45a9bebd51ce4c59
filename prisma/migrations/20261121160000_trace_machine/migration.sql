-- The machine whose upload wrote the trace last
ALTER TABLE "trace" ADD COLUMN "machine" TEXT;

UPDATE "trace" SET "machine" = job."machine"
FROM "ingest_job" job
WHERE job."user_id" = "trace"."user_id" AND job."sequence" = "trace"."upload_sequence" AND "trace"."deleted_at" IS NULL;
