-- The day before on which a trace used something: sessions of several days are counted once in a span without a list of them.
-- Filled when lib/ledger accounts for a trace, as for all after this update.
ALTER TABLE "trace_usage" ADD COLUMN "since" DATE;

CREATE INDEX "trace_usage_continued" ON "trace_usage"("user_id", "day") WHERE (since IS NOT NULL);
