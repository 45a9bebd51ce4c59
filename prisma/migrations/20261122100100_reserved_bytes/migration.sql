-- By how much an upload may make its traces grow: counted against its user's quota until it is processed. NULL without a
-- quota.
ALTER TABLE "ingest_job" ADD COLUMN "reserved_bytes" BIGINT;
