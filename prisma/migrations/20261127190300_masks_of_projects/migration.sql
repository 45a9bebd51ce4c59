-- Whether secrets are masked in a project's sessions, and when masking that was stopped begins again.
ALTER TABLE "project" ADD COLUMN "masks" BOOLEAN NOT NULL DEFAULT true, ADD COLUMN "masks_again_at" TIMESTAMPTZ(3);
