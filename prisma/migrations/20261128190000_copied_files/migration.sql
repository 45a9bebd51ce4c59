-- What a session did with a file may have been copied from another one: what is the same in both, whether it was copied, and whether
-- it counts here.
ALTER TABLE "trace_file" ADD COLUMN "touch_key" BIGINT,
ADD COLUMN "replayed" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN "counted" BOOLEAN NOT NULL DEFAULT true;
CREATE INDEX "trace_file_key" ON "trace_file"("user_id", "touch_key") WHERE (touch_key IS NOT NULL);
