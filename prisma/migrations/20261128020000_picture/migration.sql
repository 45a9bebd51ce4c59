-- Pictures that clients send, by their user and the SHA-256 of their bytes.
CREATE TABLE "picture" (
    "user_id" UUID NOT NULL,
    "sha256" BYTEA NOT NULL,
    "media_type" TEXT NOT NULL,
    "bytes" INTEGER NOT NULL,
    "body" BYTEA,
    "object" TEXT,
    "object_bytes" INTEGER,
    "wanted_at" TIMESTAMPTZ(3) DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "picture_pkey" PRIMARY KEY ("user_id","sha256")
);

-- It is compressed already.
ALTER TABLE "picture" ALTER COLUMN "body" SET STORAGE EXTERNAL;

CREATE INDEX "picture_wanted" ON "picture"("user_id", "wanted_at") WHERE (wanted_at IS NOT NULL);

ALTER TABLE "picture" ADD CONSTRAINT "picture_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION;
