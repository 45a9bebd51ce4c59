-- The seconds of each quarter of an hour in which a trace went on; NULL in rows that are not counted anew yet.
ALTER TABLE "trace_usage" ADD COLUMN "quarter_seconds" INTEGER[];
