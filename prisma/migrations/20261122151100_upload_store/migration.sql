-- Bodies of uploads in an S3 store (UPLOAD_STORE=s3): the object's key and its size, instead of `body`
ALTER TABLE "upload" ADD COLUMN "object" TEXT;
ALTER TABLE "upload" ADD COLUMN "object_bytes" INTEGER;

-- Objects that are to be deleted: a key, or what the keys of a deleted account begin with
CREATE TABLE "object_removal" (
    "key" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "object_removal_pkey" PRIMARY KEY ("key")
);
