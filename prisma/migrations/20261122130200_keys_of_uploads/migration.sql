-- Foreign keys of uploads without ON UPDATE CASCADE, which Citus refuses; no id is ever changed. Replaced without reading
-- the tables, which `validate_keys` does later without keeping writers out.
ALTER TABLE "ingest_job" ADD CONSTRAINT "ingest_job_user_id_fkey_next" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "ingest_job" DROP CONSTRAINT "ingest_job_user_id_fkey";
ALTER TABLE "ingest_job" RENAME CONSTRAINT "ingest_job_user_id_fkey_next" TO "ingest_job_user_id_fkey";
ALTER TABLE "upload" ADD CONSTRAINT "upload_user_id_job_id_fkey_next" FOREIGN KEY ("user_id", "job_id") REFERENCES "ingest_job"("user_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "upload" DROP CONSTRAINT "upload_user_id_job_id_fkey";
ALTER TABLE "upload" RENAME CONSTRAINT "upload_user_id_job_id_fkey_next" TO "upload_user_id_job_id_fkey";
