-- Traces that may be packed. Apart from the column: reads would else wait for the index.
CREATE INDEX "trace_unpacked" ON "trace"("user_id", "stored_at")
  WHERE ((packed_at IS NULL) AND (deleted_at IS NULL));
