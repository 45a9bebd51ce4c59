-- Uploads in which secrets were masked have not the bytes that were sent, and no other upload shares their bodies.
ALTER TABLE "upload" ADD COLUMN "masked" BOOLEAN NOT NULL DEFAULT false;
