-- When the messages of a trace were packed.
ALTER TABLE "trace" ADD COLUMN "packed_at" TIMESTAMPTZ(3);

CREATE INDEX "trace_unpacked" ON "trace"("user_id", "stored_at")
  WHERE ((packed_at IS NULL) AND (deleted_at IS NULL));
