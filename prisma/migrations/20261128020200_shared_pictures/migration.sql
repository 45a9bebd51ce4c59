-- Whether a link opens the session's pictures, in which nothing is masked.
ALTER TABLE "trace_share" ADD COLUMN "pictures" BOOLEAN NOT NULL DEFAULT false;
