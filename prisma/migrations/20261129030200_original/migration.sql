-- The exact copies of sessions' files, by the sessions' keys.
CREATE TABLE "original" (
    "user_id" UUID NOT NULL,
    "source" TEXT NOT NULL,
    "source_id" TEXT NOT NULL,
    "version" BIGINT NOT NULL,
    "recipient" TEXT NOT NULL,
    "files" INTEGER NOT NULL,
    "parts" INTEGER NOT NULL,
    "plain_bytes" BIGINT NOT NULL,
    "stored_bytes" BIGINT NOT NULL,
    "head" BYTEA NOT NULL,
    "machine" TEXT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "original_pkey" PRIMARY KEY ("user_id","source","source_id")
);

-- What is encrypted can't be compressed.
ALTER TABLE "original" ALTER COLUMN "head" SET STORAGE EXTERNAL;

CREATE INDEX "original_list" ON "original"("user_id", "updated_at" DESC, "source", "source_id");

ALTER TABLE "original" ADD CONSTRAINT "original_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION;
