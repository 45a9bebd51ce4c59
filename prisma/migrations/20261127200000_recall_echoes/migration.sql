-- Sessions in which agents asked Spoor are indexed again: what it answered is no longer found in them.
UPDATE "trace" SET "search_pending" = true
WHERE "deleted_at" IS NULL AND "tools" ~ '(^|[^a-z])(search_sessions|read_session|find_file_history|find_past_fix|list_recent|session_summary)(\n|$)';
