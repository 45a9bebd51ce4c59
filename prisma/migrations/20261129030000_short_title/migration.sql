-- What pages show of a title; the ledger fills it.
ALTER TABLE "trace" ADD COLUMN "short_title" TEXT;
