-- Merged blocks keep their place in time (lib/search/rank.ts): their own id is the highest whatever they are made of.
ALTER TABLE "search_block" ADD COLUMN "latest_id" BIGINT;
