-- Which traces of an upload were kept as stored, and why; NULL in jobs of earlier versions.
ALTER TABLE "ingest_job" ADD COLUMN "kept" JSONB;
