-- With it go the index and the check that unreleased versions had of it.
ALTER TABLE "trace" DROP COLUMN IF EXISTS "packed_at";
