-- A session without times has none in the list either: it stands behind all others, not where it was uploaded.
UPDATE "trace" SET "activity_at" = 'epoch' WHERE NOT "dated";
