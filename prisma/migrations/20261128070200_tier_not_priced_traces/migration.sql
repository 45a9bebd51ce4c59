-- Tokens at the standard price, since their tier of service has none in the list; 0 in traces that are not counted anew yet.
ALTER TABLE "trace" ADD COLUMN "tier_not_priced_tokens" BIGINT NOT NULL DEFAULT 0;
