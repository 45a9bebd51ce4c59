-- Whether the commit's proof was copied from another session, and whether it counts here: of the sessions that have it, one.
ALTER TABLE "trace_commit" ADD COLUMN "replayed" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN "counted" BOOLEAN NOT NULL DEFAULT true;
