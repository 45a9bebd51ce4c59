-- What a block of the search index holds (lib/search/block.ts). The sessions of one of an earlier version are indexed again
-- behind everything else; until then they are found as before.
ALTER TABLE "search_block" ADD COLUMN "version" SMALLINT NOT NULL DEFAULT 1;
