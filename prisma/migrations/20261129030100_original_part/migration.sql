-- The parts of exact copies: age files by their user and the SHA-256 of their bytes.
CREATE TABLE "original_part" (
    "user_id" UUID NOT NULL,
    "sha256" BYTEA NOT NULL,
    "bytes" INTEGER NOT NULL,
    "body" BYTEA,
    "object" TEXT,
    "unused_since" TIMESTAMPTZ(3) DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "original_part_pkey" PRIMARY KEY ("user_id","sha256")
);

-- What is encrypted can't be compressed.
ALTER TABLE "original_part" ALTER COLUMN "body" SET STORAGE EXTERNAL;

CREATE INDEX "original_part_unused" ON "original_part"("user_id", "unused_since") WHERE (unused_since IS NOT NULL);

ALTER TABLE "original_part" ADD CONSTRAINT "original_part_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION;
