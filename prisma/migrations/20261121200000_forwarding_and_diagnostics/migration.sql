-- CreateTable
CREATE TABLE "forward_outbox" (
    "report_id" UUID NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "forward_outbox_pkey" PRIMARY KEY ("report_id")
);

-- CreateTable
CREATE TABLE "diagnostic_day" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "user_id" UUID,
    "day" DATE NOT NULL,
    "adapter" TEXT NOT NULL,
    "cli_version" TEXT NOT NULL,
    "scans" BIGINT NOT NULL,
    "entries" BIGINT NOT NULL,
    "skipped" BIGINT NOT NULL,
    "invalid" BIGINT NOT NULL,
    "traces" BIGINT NOT NULL,
    "rejected" BIGINT NOT NULL,
    "empty_parses" BIGINT NOT NULL,
    "unhandled" JSONB NOT NULL DEFAULT '{}',
    "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "diagnostic_day_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "diagnostic_machine" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "user_id" UUID,
    "adapter" TEXT NOT NULL,
    "cli_version" TEXT NOT NULL,
    "device_id" TEXT NOT NULL,
    "troubled" BIGINT NOT NULL,
    "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "diagnostic_machine_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "telemetry_device" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "user_id" UUID,
    "device_id" TEXT NOT NULL,
    "machine" TEXT,
    "cli_version" TEXT NOT NULL,
    "platform" TEXT NOT NULL,
    "arch" TEXT NOT NULL,
    "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "telemetry_device_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "forward_outbox_due_at_idx" ON "forward_outbox"("due_at");

-- CreateIndex
CREATE INDEX "diagnostic_day_day_idx" ON "diagnostic_day"("day");

-- CreateIndex
CREATE INDEX "diagnostic_machine_user_id_idx" ON "diagnostic_machine"("user_id");

-- CreateIndex
CREATE INDEX "telemetry_device_user_id_seen_at_idx" ON "telemetry_device"("user_id", "seen_at");

-- CreateIndex
CREATE INDEX "telemetry_device_seen_at_idx" ON "telemetry_device"("seen_at");

-- What the schema language can't say: anonymous submissions have no user, and count together.
CREATE UNIQUE INDEX "diagnostic_day_key" ON "diagnostic_day"("user_id", "day", "adapter", "cli_version") NULLS NOT DISTINCT;
CREATE UNIQUE INDEX "diagnostic_machine_key" ON "diagnostic_machine"("adapter", "cli_version", "user_id", "device_id") NULLS NOT DISTINCT;
CREATE UNIQUE INDEX "telemetry_device_key" ON "telemetry_device"("user_id", "device_id") NULLS NOT DISTINCT;

-- AddForeignKey
ALTER TABLE "forward_outbox" ADD CONSTRAINT "forward_outbox_report_id_fkey" FOREIGN KEY ("report_id") REFERENCES "telemetry_report"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "diagnostic_day" ADD CONSTRAINT "diagnostic_day_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "diagnostic_machine" ADD CONSTRAINT "diagnostic_machine_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "telemetry_device" ADD CONSTRAINT "telemetry_device_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;
