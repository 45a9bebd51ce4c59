-- What a token may do. Tokens from before may do what they could, but for deleting.
ALTER TABLE "cli_token" ADD COLUMN "scopes" TEXT[] DEFAULT ARRAY['ingest', 'read']::TEXT[];
