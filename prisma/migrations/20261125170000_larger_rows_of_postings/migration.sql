-- A compacted block (lib/search/compact.ts) has rows of some 3 kB. They stay where they are: out of line each would be looked up twice.
ALTER TABLE "search_bucket" SET (toast_tuple_target = 8160);
