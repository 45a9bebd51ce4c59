-- A worker of a version that knows no packs would add rows to a packed trace: its update of the trace is refused, and its job fails.
UPDATE "trace" SET "packed_at" = "stored_at" WHERE "packed_at" < "stored_at";
ALTER TABLE "trace" ADD CONSTRAINT "trace_packed_check" CHECK ("packed_at" IS NULL OR "packed_at" >= "stored_at") NOT VALID;
