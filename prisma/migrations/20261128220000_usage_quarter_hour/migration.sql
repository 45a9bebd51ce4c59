-- Usage by quarter of an hour, in which the days of all time zones begin; counted since 1970.
CREATE TABLE "usage_quarter_hour" (
    "user_id" UUID NOT NULL,
    "quarter" INTEGER NOT NULL,
    "facets" BIGINT NOT NULL,
    "messages" INTEGER NOT NULL,
    "tokens" BIGINT NOT NULL,
    "untimed" INTEGER NOT NULL,
    "uncounted" INTEGER NOT NULL,
    "input_tokens" BIGINT NOT NULL,
    "output_tokens" BIGINT NOT NULL,
    "cache_read_tokens" BIGINT NOT NULL,
    "cache_write_5m_tokens" BIGINT NOT NULL,
    "cache_write_1h_tokens" BIGINT NOT NULL,
    "reasoning_tokens" BIGINT NOT NULL,
    "cost_nano" BIGINT NOT NULL,
    "recorded_nano" BIGINT NOT NULL,
    "unpriced_tokens" BIGINT NOT NULL,
    "tier_not_priced_tokens" BIGINT NOT NULL DEFAULT 0,
    "compared_nano" BIGINT NOT NULL DEFAULT 0,
    "compared_recorded_nano" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "usage_quarter_hour_pkey" PRIMARY KEY ("user_id","quarter","facets")
);

ALTER TABLE "usage_quarter_hour" ADD CONSTRAINT "usage_quarter_hour_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION;
