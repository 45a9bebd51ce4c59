-- What of a session a link opens, and whether what may be a secret is masked. No row is rewritten: an earlier link opens all of its
-- session as it is. Tokens of links with any of these are longer, and earlier versions refuse them.
ALTER TABLE "trace_share" ADD COLUMN "from_position" INTEGER,
ADD COLUMN "masked" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN "to_position" INTEGER;
