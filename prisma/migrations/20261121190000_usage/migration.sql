-- What each conversation used on each day, to the quarter of an hour; and which conversations are yet to be counted
CREATE TABLE "trace_usage" (
    "user_id" UUID NOT NULL,
    "trace_id" UUID NOT NULL,
    "day" DATE NOT NULL,
    "facets" BIGINT NOT NULL,
    "messages" INTEGER NOT NULL,
    "tokens" BIGINT NOT NULL,
    "untimed" INTEGER NOT NULL,
    "uncounted" INTEGER NOT NULL,
    "quarters" SMALLINT[],
    "quarter_messages" INTEGER[],
    "quarter_tokens" BIGINT[],
    "quarter_untimed" INTEGER[],
    "quarter_uncounted" INTEGER[],

    CONSTRAINT "trace_usage_pkey" PRIMARY KEY ("user_id","trace_id","day")
);

CREATE INDEX "trace_usage_user_id_day_idx" ON "trace_usage"("user_id", "day");

ALTER TABLE "trace_usage" ADD CONSTRAINT "trace_usage_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "usage_facets" (
    "user_id" UUID NOT NULL,
    "facets" BIGINT NOT NULL,
    "source" TEXT NOT NULL,
    "model" TEXT,
    "project" TEXT,
    "machine" TEXT,

    CONSTRAINT "usage_facets_pkey" PRIMARY KEY ("user_id","facets")
);

ALTER TABLE "usage_facets" ADD CONSTRAINT "usage_facets_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "trace" ADD COLUMN "usage_due" BOOLEAN NOT NULL DEFAULT true;

CREATE INDEX "trace_usage_due" ON "trace"("user_id", "id") WHERE "usage_due";
