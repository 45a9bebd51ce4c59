-- When masking that was stopped begins again; NULL: when its user says so.
ALTER TABLE "secret_policy" ADD COLUMN "masks_again_at" TIMESTAMPTZ(3);
