-- The newest upload that said replace:true. An older one that finishes later counts for nothing against it.
ALTER TABLE "trace" ADD COLUMN "replace_sequence" BIGINT NOT NULL DEFAULT 0;
