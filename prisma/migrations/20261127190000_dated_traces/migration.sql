-- Whether anything but its upload tells when a trace was active.
ALTER TABLE "trace" ADD COLUMN "dated" BOOLEAN NOT NULL DEFAULT true;
