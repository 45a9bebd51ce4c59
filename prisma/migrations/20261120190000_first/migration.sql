-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateTable
CREATE TABLE "user" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "name" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "email_verified" BOOLEAN NOT NULL DEFAULT false,
    "image" TEXT,
    "role" TEXT NOT NULL DEFAULT 'member',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "user_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "session" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "user_id" UUID NOT NULL,
    "token" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "ip_address" TEXT,
    "user_agent" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "session_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "account" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "user_id" UUID NOT NULL,
    "account_id" TEXT NOT NULL,
    "provider_id" TEXT NOT NULL,
    "access_token" TEXT,
    "refresh_token" TEXT,
    "id_token" TEXT,
    "access_token_expires_at" TIMESTAMPTZ(3),
    "refresh_token_expires_at" TIMESTAMPTZ(3),
    "scope" TEXT,
    "password" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "account_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "verification" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "identifier" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "verification_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "server_setting" (
    "key" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "server_setting_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "process_heartbeat" (
    "id" UUID NOT NULL,
    "role" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "process_heartbeat_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "rate_limit" (
    "key" VARCHAR(255) NOT NULL,
    "points" INTEGER NOT NULL DEFAULT 0,
    "expire" BIGINT,

    CONSTRAINT "rate_limit_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "cli_token" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "user_id" UUID NOT NULL,
    "hash" BYTEA NOT NULL,
    "machine" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3),
    "last_used_ip" TEXT,
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "cli_token_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "device_login" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "device_code_hash" BYTEA NOT NULL,
    "user_code_hash" BYTEA NOT NULL,
    "machine" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'pending',
    "ip_address" TEXT NOT NULL,
    "user_agent" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "interval_seconds" INTEGER NOT NULL DEFAULT 5,
    "last_polled_at" TIMESTAMPTZ(3),
    "decided_at" TIMESTAMPTZ(3),
    "user_id" UUID,
    "token_id" UUID,

    CONSTRAINT "device_login_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ingest_job" (
    "user_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "sequence" BIGSERIAL NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'queued',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "machine" TEXT NOT NULL,
    "bytes" INTEGER NOT NULL,
    "body_sha256" BYTEA NOT NULL,
    "idempotency_key" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),
    "traces_received" INTEGER NOT NULL,
    "traces_created" INTEGER NOT NULL DEFAULT 0,
    "traces_updated" INTEGER NOT NULL DEFAULT 0,
    "traces_unchanged" INTEGER NOT NULL DEFAULT 0,
    "traces_kept" INTEGER NOT NULL DEFAULT 0,
    "messages_received" INTEGER NOT NULL,
    "messages_written" INTEGER NOT NULL DEFAULT 0,
    "error_code" TEXT,
    "error_message" TEXT,

    CONSTRAINT "ingest_job_pkey" PRIMARY KEY ("user_id","id")
);

-- CreateTable
CREATE TABLE "upload" (
    "user_id" UUID NOT NULL,
    "job_id" UUID NOT NULL,
    "body" BYTEA NOT NULL,

    CONSTRAINT "upload_pkey" PRIMARY KEY ("user_id","job_id")
);

-- CreateTable
CREATE TABLE "trace" (
    "user_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "source" TEXT NOT NULL,
    "source_id" TEXT NOT NULL,
    "model" TEXT,
    "title" TEXT,
    "derived_title" TEXT,
    "project" TEXT,
    "created_at" TIMESTAMPTZ(3),
    "metadata" JSONB,
    "message_count" INTEGER NOT NULL,
    "token_count" BIGINT NOT NULL,
    "sanitized" BOOLEAN NOT NULL DEFAULT false,
    "content_hash" BYTEA NOT NULL,
    "messages_hash" BYTEA NOT NULL,
    "upload_sequence" BIGINT NOT NULL,
    "activity_at" TIMESTAMPTZ(3) NOT NULL,
    "stored_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "trace_pkey" PRIMARY KEY ("user_id","id")
);

-- CreateTable
CREATE TABLE "message" (
    "user_id" UUID NOT NULL,
    "trace_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,
    "role" TEXT,
    "content" TEXT NOT NULL,
    "token_count" INTEGER,
    "created_at" TIMESTAMPTZ(3),
    "metadata" JSONB,

    CONSTRAINT "message_pkey" PRIMARY KEY ("user_id","trace_id","position")
);

-- CreateTable
CREATE TABLE "telemetry_report" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "user_id" UUID,
    "schema" DOUBLE PRECISION NOT NULL,
    "device_id" TEXT NOT NULL,
    "cli_version" TEXT NOT NULL,
    "platform" TEXT NOT NULL,
    "arch" TEXT NOT NULL,
    "command" TEXT NOT NULL,
    "sent_at" TEXT,
    "received_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "telemetry_report_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "diagnostic" (
    "report_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,
    "adapter" TEXT NOT NULL,
    "source" TEXT,
    "total_entries" BIGINT NOT NULL,
    "skipped_entries" BIGINT NOT NULL,
    "invalid_entries" BIGINT NOT NULL,
    "event_count" BIGINT NOT NULL,
    "trace_count" BIGINT NOT NULL,
    "rejected_traces" BIGINT NOT NULL,
    "unhandled_types" TEXT[],
    "empty_parse" BOOLEAN NOT NULL,

    CONSTRAINT "diagnostic_pkey" PRIMARY KEY ("report_id","position")
);

-- CreateTable
CREATE TABLE "client_event" (
    "report_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "properties" JSONB NOT NULL,

    CONSTRAINT "client_event_pkey" PRIMARY KEY ("report_id","position")
);

-- CreateIndex
CREATE UNIQUE INDEX "user_email_key" ON "user"("email");

-- CreateIndex
CREATE UNIQUE INDEX "session_token_key" ON "session"("token");

-- CreateIndex
CREATE INDEX "session_user_id_idx" ON "session"("user_id");

-- CreateIndex
CREATE INDEX "account_user_id_idx" ON "account"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "account_provider_id_account_id_key" ON "account"("provider_id", "account_id");

-- CreateIndex
CREATE INDEX "verification_identifier_idx" ON "verification"("identifier");

-- CreateIndex
CREATE INDEX "process_heartbeat_role_seen_at_idx" ON "process_heartbeat"("role", "seen_at");

-- CreateIndex
CREATE INDEX "rate_limit_expire_idx" ON "rate_limit"("expire");

-- CreateIndex
CREATE UNIQUE INDEX "cli_token_hash_key" ON "cli_token"("hash");

-- CreateIndex
CREATE INDEX "cli_token_user_id_created_at_idx" ON "cli_token"("user_id", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "device_login_device_code_hash_key" ON "device_login"("device_code_hash");

-- CreateIndex
CREATE UNIQUE INDEX "device_login_user_code_hash_key" ON "device_login"("user_code_hash");

-- CreateIndex
CREATE UNIQUE INDEX "device_login_token_id_key" ON "device_login"("token_id");

-- CreateIndex
CREATE INDEX "device_login_expires_at_idx" ON "device_login"("expires_at");

-- CreateIndex
CREATE INDEX "ingest_job_user_id_sequence_idx" ON "ingest_job"("user_id", "sequence");

-- CreateIndex
CREATE UNIQUE INDEX "ingest_job_user_id_idempotency_key_key" ON "ingest_job"("user_id", "idempotency_key");

-- CreateIndex
CREATE INDEX "trace_user_id_activity_at_id_idx" ON "trace"("user_id", "activity_at" DESC, "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "trace_user_id_source_source_id_key" ON "trace"("user_id", "source", "source_id");

-- CreateIndex
CREATE INDEX "telemetry_report_user_id_received_at_idx" ON "telemetry_report"("user_id", "received_at");

-- CreateIndex
CREATE INDEX "telemetry_report_received_at_idx" ON "telemetry_report"("received_at");

-- AddForeignKey
ALTER TABLE "session" ADD CONSTRAINT "session_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "account" ADD CONSTRAINT "account_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "cli_token" ADD CONSTRAINT "cli_token_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "device_login" ADD CONSTRAINT "device_login_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "device_login" ADD CONSTRAINT "device_login_token_id_fkey" FOREIGN KEY ("token_id") REFERENCES "cli_token"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ingest_job" ADD CONSTRAINT "ingest_job_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "upload" ADD CONSTRAINT "upload_user_id_job_id_fkey" FOREIGN KEY ("user_id", "job_id") REFERENCES "ingest_job"("user_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "trace" ADD CONSTRAINT "trace_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "message" ADD CONSTRAINT "message_user_id_trace_id_fkey" FOREIGN KEY ("user_id", "trace_id") REFERENCES "trace"("user_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "telemetry_report" ADD CONSTRAINT "telemetry_report_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "diagnostic" ADD CONSTRAINT "diagnostic_report_id_fkey" FOREIGN KEY ("report_id") REFERENCES "telemetry_report"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "client_event" ADD CONSTRAINT "client_event_report_id_fkey" FOREIGN KEY ("report_id") REFERENCES "telemetry_report"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What Prisma's schema language cannot say.

-- Upload bodies come compressed (zstd): pglz would only cost time. 561 ms against 32 ms for one 18 MB batch.
ALTER TABLE "upload" ALTER COLUMN "body" SET STORAGE EXTERNAL;

-- Counters may be lost in a crash, so that they do not cost a flush each.
ALTER TABLE "rate_limit" SET UNLOGGED;

ALTER TABLE "ingest_job" ADD CONSTRAINT "ingest_job_status_check"
  CHECK ("status" IN ('queued', 'running', 'succeeded', 'failed'));
ALTER TABLE "device_login" ADD CONSTRAINT "device_login_status_check"
  CHECK ("status" IN ('pending', 'approved', 'denied', 'redeemed'));
ALTER TABLE "user" ADD CONSTRAINT "user_role_check" CHECK ("role" IN ('owner', 'member'));
-- One owner, whatever races at set-up.
CREATE UNIQUE INDEX "user_one_owner" ON "user" ("role") WHERE "role" = 'owner';

-- The backlog of a user is counted before an upload's body is read.
CREATE INDEX "ingest_job_open" ON "ingest_job" ("user_id", "status") WHERE "status" IN ('queued', 'running', 'failed');
