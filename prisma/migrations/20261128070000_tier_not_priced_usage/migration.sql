-- Whether the cost is by the standard price, since the tier of service has none in the list.
ALTER TABLE "message_usage" ADD COLUMN "tier_not_priced" BOOLEAN NOT NULL DEFAULT false;
