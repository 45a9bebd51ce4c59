-- Links by which others may read one conversation
CREATE TABLE "trace_share" (
    "user_id" UUID NOT NULL,
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "trace_id" UUID NOT NULL,
    "hash" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "trace_share_pkey" PRIMARY KEY ("user_id","id")
);

CREATE UNIQUE INDEX "trace_share_hash_key" ON "trace_share"("hash");

CREATE INDEX "trace_share_user_id_trace_id_idx" ON "trace_share"("user_id", "trace_id");

ALTER TABLE "trace_share" ADD CONSTRAINT "trace_share_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;
