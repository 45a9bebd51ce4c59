-- What a list says of a session's course, derived from its messages by lib/ledger. No row is rewritten.
ALTER TABLE "trace" ADD COLUMN "active_seconds" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN "call_count" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN "error_count" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN "spark" TEXT,
ADD COLUMN "tools" TEXT,
ADD COLUMN "trivial" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN "turn_count" INTEGER NOT NULL DEFAULT 0;

CREATE INDEX "trace_trivial" ON "trace"("user_id", "activity_at" DESC, "id" DESC) WHERE (trivial AND deleted_at IS NULL);
