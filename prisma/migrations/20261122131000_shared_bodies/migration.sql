-- Uploads of the same bytes share one stored body: that of the upload `held_by` names. `removed_at` marks an upload whose time
-- is over while others still need its body. An earlier version stores and reads uploads that hold their own, as before.
ALTER TABLE "upload" ALTER COLUMN "body" DROP NOT NULL;
ALTER TABLE "upload" ADD COLUMN "held_by" UUID;
ALTER TABLE "upload" ADD COLUMN "removed_at" TIMESTAMPTZ(3);

CREATE INDEX "upload_held_by" ON "upload"("user_id", "held_by") WHERE held_by IS NOT NULL;

ALTER TABLE "upload" ADD CONSTRAINT "upload_user_id_held_by_fkey" FOREIGN KEY ("user_id", "held_by") REFERENCES "upload"("user_id", "job_id") ON DELETE NO ACTION ON UPDATE NO ACTION;
