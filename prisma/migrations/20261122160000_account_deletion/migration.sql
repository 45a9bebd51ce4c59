-- An account whose deletion has begun: nobody can use it, and its rows are deleted in batches.
ALTER TABLE "user" ADD COLUMN "deleted_at" TIMESTAMPTZ(3);
