-- Large rows that are rewritten as a whole: a fifth of the table, PostgreSQL's default, is too much to leave dead. What is
-- rewritten faster than autovacuum comes is freed by the process that rewrites it (lib/db/vacuum.ts).
ALTER TABLE "message" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000, toast.autovacuum_vacuum_scale_factor = 0.05, toast.autovacuum_vacuum_threshold = 1000);
ALTER TABLE "search_bucket" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
ALTER TABLE "upload" SET (toast.autovacuum_vacuum_scale_factor = 0.05, toast.autovacuum_vacuum_threshold = 1000);
ALTER TABLE "trace" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
ALTER TABLE "ingest_job" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
