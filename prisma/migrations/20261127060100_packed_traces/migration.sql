-- When the messages of a trace were packed.
ALTER TABLE "trace" ADD COLUMN "packed_at" TIMESTAMPTZ(3);
