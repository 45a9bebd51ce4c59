DROP INDEX "trace_usage_continued";
