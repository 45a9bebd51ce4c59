-- Whether the pull request's proof was copied from another session, when that was, and whether it counts here.
ALTER TABLE "trace_pull_request" ADD COLUMN "replayed" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN "at" TIMESTAMPTZ(3),
ADD COLUMN "counted" BOOLEAN NOT NULL DEFAULT true;
