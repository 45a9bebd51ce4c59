-- What people let agents read: an authorization code, then a token that is renewed, until it is revoked
CREATE TABLE "agent_grant" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "user_id" UUID NOT NULL,
    "client" TEXT NOT NULL,
    "client_hash" BYTEA NOT NULL,
    "redirect_uri" TEXT NOT NULL,
    "project" TEXT,
    "challenge" TEXT NOT NULL,
    "code_hash" BYTEA,
    "refresh_hash" BYTEA,
    "token_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "agent_grant_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "agent_grant_token_id_key" ON "agent_grant"("token_id");

CREATE INDEX "agent_grant_user_id_created_at_idx" ON "agent_grant"("user_id", "created_at");

CREATE INDEX "agent_grant_expires_at_idx" ON "agent_grant"("expires_at");

ALTER TABLE "agent_grant" ADD CONSTRAINT "agent_grant_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

ALTER TABLE "agent_grant" ADD CONSTRAINT "agent_grant_token_id_fkey" FOREIGN KEY ("token_id") REFERENCES "cli_token"("id") ON DELETE SET NULL ON UPDATE NO ACTION;
